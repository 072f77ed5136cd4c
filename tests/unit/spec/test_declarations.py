"""The declarations as a package are light, immutable and consistent in themselves."""

import dataclasses
import json
import subprocess
import sys

import pytest

from backend.spec.buckets import BUCKETS
from backend.spec.functions import FUNCTIONS, pipeline_functions
from backend.spec.queues import QUEUES
from backend.spec.routes import ROUTES
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.secrets import SECRETS
from backend.spec.settings import SETTINGS
from backend.spec.shipped import SHIPPED
from backend.spec.tables import TABLES

EVERYTHING = "import backend.spec.functions, backend.spec.routes, backend.spec.search_indexes"
ALLOWED_MS = 50
DATACLASSES_MS = 12
"""The time in which `dataclasses` was imported on the machine where the limit was set."""


def _run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", *options, "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_importing_the_declarations_loads_nothing_but_the_standard_library() -> None:
    code = f"{EVERYTHING}; import json; print(json.dumps(sorted(sys.modules)))"
    loaded = {name.partition(".")[0] for name in json.loads(_run(code).stdout)}
    allowed = sys.stdlib_module_names | {"backend", "__main__"}
    # A site-packages .pth file may load its own finder into every process.
    bare = json.loads(_run("import json; print(json.dumps(sorted(sys.modules)))").stdout)
    assert loaded - allowed - {name.partition(".")[0] for name in bare} == set()


def _import_ratio() -> float:
    """The time to import all declarations in units of the time to import `dataclasses`."""
    spent = {"backend": 0, "dataclasses": 0}
    for line in _run(EVERYTHING, "-X", "importtime").stderr.splitlines():
        own, cumulative, name = (part.strip() for part in line.partition(":")[2].split("|"))
        if name == "dataclasses":
            spent["dataclasses"] = int(cumulative)
        elif name.startswith("backend"):
            spent["backend"] += int(own)
    return (spent["backend"] + spent["dataclasses"]) / spent["dataclasses"]


def test_importing_the_declarations_takes_less_than_50_ms() -> None:
    assert min(_import_ratio() for _ in range(5)) < ALLOWED_MS / DATACLASSES_MS


@pytest.mark.parametrize(
    "declared",
    [TABLES, BUCKETS, QUEUES, SECRETS, SETTINGS, FUNCTIONS, ROUTES],
    ids=["tables", "buckets", "queues", "secrets", "settings", "functions", "routes"],
)
def test_a_name_is_declared_once(declared: tuple[object, ...]) -> None:
    names = [_identity(value) for value in declared]
    assert len(set(names)) == len(names)


def _identity(value: object) -> str:
    return str(getattr(value, "key", None) or getattr(value, "name", ""))


def test_declarations_cannot_be_changed() -> None:
    for value in (TABLES[0], BUCKETS[0], QUEUES[0], SECRETS[0], SETTINGS[0], FUNCTIONS[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.name = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_path_parameter_of_a_route_is_one_or_two_names_of_letters() -> None:
    for route in ROUTES:
        *parts, last = route.path.strip("/").split("/")
        for part in (*parts, last.replace("+}", "}")):  # only the last one may take what follows
            if part.startswith("{"):
                assert part.endswith("}")
                assert all(name.isalpha() for name in part[1:-1].split(":"))
            else:
                assert "{" not in part


def test_a_verb_names_one_route_of_its_domain() -> None:
    verbs = [(route.domain, route.name) for route in ROUTES]
    assert len(set(verbs)) == len(verbs)


def test_every_table_has_its_purpose() -> None:
    for table in TABLES:
        assert table.description.endswith(".")


def test_the_sources_of_a_search_index_are_declared_tables() -> None:
    for index in SEARCH_INDEXES:
        assert set(index.sources) <= set(TABLES)


def test_each_shipped_pipeline_runs_a_function_of_its_kind() -> None:
    assert {one.function for one in SHIPPED} == set(pipeline_functions())
