"""Declarations are used, errors have codes of their own, and slices have the same structure."""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import grimp
import pytest

from backend.core.errors import VitrineError
from backend.domains.jobs.service.consumers import WORK_TIME
from backend.domains.jobs.service.runner import LONGEST_LEASE_SECONDS
from backend.http.errors import status_of
from backend.spec import secrets, settings
from backend.spec.buckets import BUCKETS
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.jobs import JOB_QUEUES
from backend.spec.keys import COMPOSITES
from backend.spec.queues import (
    EVENT_FEED,
    OBJECT_SUBSCRIPTIONS,
    QUEUE_SUBSCRIPTIONS,
    QUEUES,
    SCAN_SUBSCRIPTIONS,
    STATUS_QUEUES,
    STREAM_SUBSCRIPTIONS,
    UNCONSUMED_STREAMS,
)
from backend.spec.routes import ROUTES
from backend.spec.schedules import SCHEDULES
from backend.spec.tables import TABLES
from backend.spec.tables.operations import JOBS

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT_BYTES = 4096  # Lambda's limit for all variables of a function
CONSUMERS_OF_A_STREAM = 2  # DynamoDB throttles reads above this

TABLES_OF_LATER_DOMAINS = {
    "AuthEntitiesStorageTable": "of the data model; the contract has no route for it",
}
BUCKETS_THAT_NO_FUNCTION_USES = {
    "WebAppBucket": "the web application comes later",
    "ArtefactsBucket": "filled at deploy time",
    "AccessLogsBucket": "written by S3 and CloudTrail",
}
CONSTANTS_THAT_ONLY_TESTS_READ = {
    "KEY_LAYOUTS": "the page on the data model lists them",
    "COMPOSITES": "the tests of keys go through all of them",
    "UNCONSUMED_STREAMS": "reasons, which a test here demands",
}


def test_every_table_is_used_by_a_function_or_waits_for_its_domain() -> None:
    used = {table.name for function in FUNCTIONS for table in function.tables}
    assert {table.name for table in TABLES} - used == set(TABLES_OF_LATER_DOMAINS)


def test_every_bucket_is_used_by_a_function_or_has_a_reason() -> None:
    used = {bucket.name for function in FUNCTIONS for bucket in function.buckets}
    assert {bucket.name for bucket in BUCKETS} - used == set(BUCKETS_THAT_NO_FUNCTION_USES)


def test_every_stream_has_a_consumer_or_a_reason_and_never_both() -> None:
    streamed = {table.name for table in TABLES if table.stream}
    consumed = {subscription.source.name for subscription in STREAM_SUBSCRIPTIONS}
    assert consumed | set(UNCONSUMED_STREAMS) == streamed
    assert not consumed & set(UNCONSUMED_STREAMS)
    assert all(UNCONSUMED_STREAMS.values())


def test_a_stream_has_at_most_two_consumers() -> None:
    sources = [subscription.source.name for subscription in STREAM_SUBSCRIPTIONS]
    assert all(sources.count(name) <= CONSUMERS_OF_A_STREAM for name in sources)


def test_every_queue_has_a_sender_and_a_consumer() -> None:
    consumed = {subscription.source for subscription in QUEUE_SUBSCRIPTIONS}
    sent = {queue for function in FUNCTIONS for queue in function.sends}
    sent |= {subscription.queue for subscription in (*OBJECT_SUBSCRIPTIONS, *SCAN_SUBSCRIPTIONS)}
    sent |= set(STATUS_QUEUES)
    assert consumed == sent - {EVENT_FEED} == set(QUEUES)


def test_every_kind_of_job_is_started_and_continues_by_itself() -> None:
    by_name = {function.name: function for function in FUNCTIONS}
    assert set(by_name["JobStarter"].sends) == JOB_QUEUES
    for subscription in QUEUE_SUBSCRIPTIONS:
        if subscription.source in JOB_QUEUES:
            worker = by_name[subscription.consumer]
            assert subscription.source in worker.sends
            assert worker.loops
            assert subscription.batch_size == 1
            assert "UpdateItem" in worker.uses[JOBS]


def test_the_worker_of_a_job_lives_longer_than_it_works() -> None:
    workers = {s.consumer for s in QUEUE_SUBSCRIPTIONS if s.source in JOB_QUEUES}
    for function in FUNCTIONS:
        if function.name in workers:
            assert 2 * WORK_TIME.seconds <= function.timeout_seconds
            assert 2 * function.timeout_seconds <= LONGEST_LEASE_SECONDS


def test_every_bucket_that_sends_events_has_a_subscription() -> None:
    sending = {bucket.name for bucket in BUCKETS if bucket.events}
    assert {subscription.source.name for subscription in OBJECT_SUBSCRIPTIONS} == sending


def test_every_consumer_is_a_declared_function_with_something_to_consume() -> None:
    subscriptions = [*STREAM_SUBSCRIPTIONS, *QUEUE_SUBSCRIPTIONS]
    consumers = {function.name for function in FUNCTIONS if function.kind == "consumer"}
    assert {subscription.consumer for subscription in subscriptions} == consumers


def test_every_scheduled_function_has_one_schedule() -> None:
    scheduled = [function.name for function in FUNCTIONS if function.kind == "scheduled"]
    assert sorted(schedule.function.name for schedule in SCHEDULES) == sorted(scheduled)
    assert all(schedule.minutes > 1 for schedule in SCHEDULES)


def test_dead_letters_of_every_queue_can_be_moved_back() -> None:
    assert {queue for function in FUNCTIONS for queue in function.redrives} == set(QUEUES)


def test_every_secret_and_setting_is_used_by_a_function() -> None:
    assert {s for function in FUNCTIONS for s in function.secrets} == set(secrets.SECRETS)
    assert {s for function in FUNCTIONS for s in function.settings} == set(settings.SETTINGS)


def test_a_function_rewrites_only_secrets_that_it_reads() -> None:
    for function in FUNCTIONS:
        assert set(function.rewrites) <= set(function.secrets)


def test_every_composite_is_a_key_of_a_table_or_of_an_index() -> None:
    keys = {key for table in TABLES for key in (table.partition_key, table.sort_key)}
    indexes = [index for table in TABLES for index in table.indexes]
    keys |= {key for index in indexes for key in (index.partition_key, index.sort_key)}
    assert set(COMPOSITES) <= keys


def test_every_domain_has_one_function_and_every_function_of_the_api_has_routes() -> None:
    domains = [function.domain for function in FUNCTIONS if function.kind == "api"]
    assert len(set(domains)) == len(domains)
    assert {route.domain for route in ROUTES} == set(domains)
    for function in FUNCTIONS:
        assert (function.domain is not None) == (function.kind == "api")


def test_searches_read_which_index_to_query() -> None:
    for function in FUNCTIONS:
        if function.search != "none":
            assert "SearchState" in {table.name for table in function.tables}


def _environment_bytes(function: Function) -> int:
    """Maximum size of the variables of a function: their names, and the longest values."""
    stack_and_suffix = len("vitrine-0123456789abcdef-bootstrap-") + 14
    sizes = {f"TABLE_{t.name}": len(t.name) + stack_and_suffix for t in function.tables}
    sizes |= {f"BUCKET_{bucket.name}": 63 for bucket in function.buckets}
    named = (*function.sends, *function.receives, *function.redrives)
    sizes |= {f"QUEUE_{queue.name}": 60 + 80 for queue in named}
    sizes |= {f"TOPIC_{topic.name}": len(topic.name) + 110 for topic in function.topics}
    sizes |= {f"SECRET_{secret.name}": len(secret.name) + 110 for secret in function.secrets}
    sizes |= {setting.variable: 64 for setting in function.settings}
    if function.user_pool != "none":
        sizes |= {"USER_POOL_ID": 55, "USER_POOL_CLIENT_ID": 128}
    sizes |= {"SEARCH_ENDPOINT": 100, "POWERTOOLS_SERVICE_NAME": 64, "POWERTOOLS_LOG_LEVEL": 8}
    return sum(len(name) + size for name, size in sizes.items())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_the_variables_of_a_function_fit(function: Function) -> None:
    assert _environment_bytes(function) < ENVIRONMENT_BYTES


def _modules(*folders: str) -> Iterator[ast.Module]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def _constants() -> set[str]:
    """The constants of the declarations, except collections such as `TABLES`."""
    result: set[str] = set()
    for module in _modules("backend/spec"):
        for statement in module.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            result |= {t.id for t in targets if isinstance(t, ast.Name) and t.id.isupper()}
    return result


def _read_names() -> set[str]:
    result: set[str] = set()
    for module in _modules("backend", "infra"):
        for node in ast.walk(module):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                result.add(node.id)
            elif isinstance(node, ast.Attribute):
                result.add(node.attr)
    return result


def test_every_constant_of_the_declarations_is_read() -> None:
    routes = {name for name in _constants() if _is_route(name)}
    unread = _constants() - _read_names() - routes
    assert unread == set(CONSTANTS_THAT_ONLY_TESTS_READ)


def _is_route(name: str) -> bool:
    """Slices read routes when they bind them; another test checks this."""
    from backend.spec import routes

    return isinstance(getattr(routes, name, None), routes.Route)


def test_only_registries_are_scanned() -> None:
    scanned = {
        table
        for function in FUNCTIONS
        for table in function.tables
        if "Scan" in function.uses[table]
    }
    registries = {
        table
        for table in TABLES
        if any("a registry" in pattern for pattern in table.access_patterns)
    }
    assert {table.name for table in scanned} == {table.name for table in registries}


CODE = ("backend", "client/src", "infra", "local", "tracking/src")
OF_LIBRARIES = {"BotoCoreError", "ClientError", "MlflowException"}
PARTS = ("aws", "core", "domains", "http", "operations", "search")


def _kinds(base: type[VitrineError]) -> Iterator[type[VitrineError]]:
    for kind in base.__subclasses__():
        if kind.__module__.startswith("backend."):
            yield kind
        yield from _kinds(kind)


def _all_kinds() -> set[type[VitrineError]]:
    """All errors of the backend, whether or not another test has imported their modules."""
    for part in PARTS:
        package = import_module(f"backend.{part}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return set(_kinds(VitrineError))


def test_a_code_of_an_error_is_declared_once() -> None:
    declared = Counter(kind.code for kind in _all_kinds() if "code" in vars(kind))
    assert len(declared) > 100
    assert {code: times for code, times in declared.items() if times > 1} == {}


def test_a_code_of_an_error_has_one_status() -> None:
    kinds = {(kind.code, status_of(kind.__new__(kind))) for kind in _all_kinds()}
    statuses = Counter(code for code, _ in kinds)
    assert {code: times for code, times in statuses.items() if times > 1} == {}


def test_a_slice_declares_its_errors_in_its_module_of_errors() -> None:
    """Errors that other modules use; names of the others begin with an underscore."""
    slices = [kind for kind in _all_kinds() if kind.__module__.startswith("backend.domains.")]
    public = [kind for kind in slices if not kind.__name__.startswith("_")]
    assert len(public) > 80
    assert (
        sorted(
            f"{kind.__module__}.{kind.__name__}"
            for kind in public
            if kind.__module__.split(".")[3:] != ["errors"]
        )
        == []
    )


def test_an_error_that_a_docstring_lists_exists() -> None:
    texts = [path.read_text() for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    existing = {name for text in texts for name in re.findall(r"^class (\w+)", text, re.MULTILINE)}
    sections = (part for text in texts for part in re.findall(r"Raises:\n((?: {4,}.*\n)+)", text))
    listed = {name for section in sections for name in re.findall(r"(?m)^ +(\w+Error):", section)}
    assert len(listed) > 100
    assert listed - existing - OF_LIBRARIES - vars(builtins).keys() == set()


DOMAINS = "backend.domains."
KINDS = {"models", "errors", "rules", "repository", "service", "routes"}


@cache
def _imports_between_slices() -> list[tuple[str, str]]:
    graph = grimp.build_graph("backend", cache_dir=None)
    return [
        (module, imported)
        for module in sorted(graph.modules)
        if module.startswith(DOMAINS)
        for imported in sorted(graph.find_modules_directly_imported_by(module))
        if imported.startswith(DOMAINS) and imported.split(".")[2] != module.split(".")[2]
    ]


def test_a_slice_imports_from_another_its_service_its_errors_and_the_models_that_it_uses() -> None:
    inner = [
        (module, imported)
        for module, imported in _imports_between_slices()
        if imported.split(".")[3] not in {"service", "errors", "models"}
    ]
    assert inner == []


def test_slices_that_use_each_other_are_seen() -> None:
    pairs = {(a.split(".")[2], b.split(".")[2]) for a, b in _imports_between_slices()}
    assert ("databases", "buckets") in pairs


BESIDE = {"access": {"policy"}}
"""The terms of permission rules, and their compiled forms. Models use these terms, so they cannot
be in the rules module, which uses models."""


def test_a_slice_holds_the_six_kinds_of_files_and_no_seventh() -> None:
    slices = [path for path in (ROOT / "backend" / "domains").iterdir() if path.is_dir()]
    for path in slices:
        stems = {part.stem for part in path.iterdir() if part.suffix == ".py" or part.is_dir()}
        assert stems - {"__init__", "__pycache__"} <= KINDS | BESIDE.get(path.name, set()), (
            path.name
        )


# import-linter's `acyclic_siblings` compares packages, which is stricter than circles of modules.
@pytest.mark.parametrize("package", ["backend", "infra", "local", "vitrine", "vitrine_mlflow"])
def test_no_modules_import_each_other_in_a_circle(package: str) -> None:
    graph = grimp.build_graph(package, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
