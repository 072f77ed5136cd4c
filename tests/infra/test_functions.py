"""The functions have exactly the properties, variables and permissions of their declarations."""

import re
from typing import get_args

import pytest

from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET, Bucket
from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.model import SearchAccess
from backend.spec.key_layouts import RUNS_PREFIX
from backend.spec.queues import QUEUE_SUBSCRIPTIONS, STREAM_SUBSCRIPTIONS
from backend.spec.requests import OF_BUCKETS
from infra import grants
from infra.constructs.function import RUNTIME
from infra.settings import default_context, read_settings
from infra.settings.contradictions import POLICY_CHARS
from local.iam.policy import Policies
from tests.infra.templates import STATE_MACHINE, Assembly

_DOMAIN = "arn:aws:es:us-east-1:111122223333:domain/d"
INLINE_POLICY_CHARACTERS = 10_240
"""IAM's limit for all inline policies of a role, white space not counted."""


def test_the_functions_are_exactly_those_declared(assembly: Assembly) -> None:
    assert set(assembly.of_type("AWS::Lambda::Function")) == {spec.name for spec in FUNCTIONS}


def test_a_function_has_the_declared_handler_and_size(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            properties = assembly.resource(spec.name).properties
            assert properties["Handler"] == spec.handler
            assert properties["MemorySize"] == spec.memory_mb
            assert properties["Timeout"] == spec.timeout_seconds
            assert properties.get("EphemeralStorage", {"Size": 512}) == {"Size": spec.storage_mb}
            stage = next(assembly.folder.glob("*.template.json")).name.split("-")[1]
            assert properties["FunctionName"] == f"vitrine-{stage}-{spec.name}"
            assert properties["Runtime"] == RUNTIME.name == "python3.13"
            assert properties["Architectures"] == ["arm64"]
            more = {None: [], "inspect": ["<InspectDependencies>"]} | {
                "inspect-cad": ["<InspectCadDependencies>"]
            }
            assert assembly.texts(properties["Layers"]) == ["<Dependencies>", *more[spec.packages]]
            assert assembly.text(properties["Role"]) == f"<{spec.name}Role.Arn>"


def test_only_a_function_that_sends_to_itself_may_loop(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            received = {s.source for s in QUEUE_SUBSCRIPTIONS if s.consumer == spec.name}
            properties = assembly.resource(spec.name).properties
            assert properties.get("RecursiveLoop") == ("Allow" if spec.loops else None)
            assert spec.loops <= bool(received & set(spec.sends))


def test_concurrency_is_reserved_only_where_the_stage_sets_it(
    assembly: Assembly, hardened: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            assert "ReservedConcurrentExecutions" not in assembly.resource(spec.name).properties
            found = hardened.resource(spec.name).properties.get("ReservedConcurrentExecutions")
            assert found == (20 if spec.name == "SearchApi" else None)


def _declared_environment(spec: Function, stage: str) -> dict[str, str]:
    context = default_context() | {"stage": stage}
    values = read_settings(context.get).environment()
    expected = {f"TABLE_{table.name}": f"<{table.name}>" for table in spec.tables}
    expected |= {f"BUCKET_{bucket.name}": f"<{bucket.name}>" for bucket in spec.buckets}
    named = (*spec.sends, *spec.receives, *spec.redrives)
    expected |= {f"QUEUE_{queue.name}": f"<{queue.name}>" for queue in named}
    expected |= {f"TOPIC_{topic.name}": f"<{topic.name}>" for topic in spec.topics}
    expected |= {f"SECRET_{secret.name}": f"<{secret.name}>" for secret in spec.secrets}
    expected |= {f"FUNCTION_{called.name}": f"<{called.name}>" for called in spec.calls}
    expected |= {f"SETTING_{setting.name}": values[setting.name] for setting in spec.settings}
    if spec.search != "none":
        expected["SEARCH_ENDPOINT"] = "<SearchDomain.DomainEndpoint>"
    if spec.runs:
        expected["EXECUTIONS_STATE_MACHINE_ARN"] = STATE_MACHINE.format(stage=stage)
        expected["EXECUTIONS_ALLOWED_ARNS"] = ""
    return expected


def test_a_function_sees_what_it_declares_and_nothing_else(
    local: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            variables = local.resource(spec.name).properties["Environment"]["Variables"]
            found = {name: local.text(value) for name, value in variables.items()}
            assert found.pop("POWERTOOLS_SERVICE_NAME") == spec.name
            assert found.pop("POWERTOOLS_LOG_LEVEL") == "INFO"
            assert found == _declared_environment(spec, "local")


def test_a_function_logs_json_to_a_group_of_its_own_that_is_emptied(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            logging = assembly.resource(spec.name).properties["LoggingConfig"]
            assert logging["LogFormat"] == "JSON"
            assert assembly.text(logging["LogGroup"]) == f"<{spec.name}Logs>"
            group = assembly.resource(f"{spec.name}Logs")
            assert group.properties["RetentionInDays"] in {7, 90}


def _granted(assembly: Assembly, spec: Function, prefix: str) -> dict[str, set[str]]:
    """The actions of a service that a function may perform, by resource."""
    found: dict[str, set[str]] = {}
    for actions, resources in assembly.statements(assembly.resource(f"{spec.name}Role")):
        for resource in resources:
            taken = {action for action in actions if action.startswith(prefix)}
            if taken:
                found.setdefault(resource, set()).update(taken)
    return found


def test_a_function_may_make_the_requests_to_its_tables_that_it_declares(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            expected: dict[str, set[str]] = {}
            for table in spec.tables:
                arn = f"<{table.name}.Arn>"
                requests = set(spec.uses[table])
                if "QueryIndexes" in requests:
                    expected[f"{arn}/index/*"] = {"dynamodb:Query"}
                if requests - {"QueryIndexes"}:
                    expected[arn] = {f"dynamodb:{each}" for each in requests - {"QueryIndexes"}}
            for subscription in STREAM_SUBSCRIPTIONS:
                if subscription.consumer == spec.name:
                    name = subscription.source.name
                    expected[f"<{name}.StreamArn>"] = set(grants.STREAM_READ)
                    expected[f"<{name}.Arn>/stream/*"] = set(grants.STREAM_LIST)
            assert _granted(assembly, spec, "dynamodb:") == expected


def _objects_of(spec: Function, bucket: Bucket) -> tuple[str, ...]:
    """Pipelines may use objects of executions only, and searches previews only."""
    if spec.kind == "pipeline" and bucket is AUXILIARY_BUCKET:
        return (f"/{RUNS_PREFIX}*",)
    if spec.name == "SearchApi":
        return ("/*.previewFile.*", "/*/preview.*", "/*/previews/*", "/previews/*")
    return ("/*",)


def test_a_function_may_make_the_requests_to_its_buckets_that_it_declares(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            expected: dict[str, set[str]] = {}
            for bucket in spec.buckets:
                for request in spec.uses[bucket]:
                    places = ("",) if request in OF_BUCKETS else _objects_of(spec, bucket)
                    arns = [f"<{bucket.name}.Arn>"]
                    # imported buckets with assets are used in the same way
                    if bucket is ASSET_BUCKET:
                        arns += [
                            f"arn:<AWS::Partition>:s3:::{one}" for one in assembly.imported_buckets
                        ]
                    for each in (f"{arn}{place}" for arn in arns for place in places):
                        expected.setdefault(each, set()).add(f"s3:{request}")
            assert _granted(assembly, spec, "s3:") == expected


def test_only_tables_with_indexes_are_queried_by_index(subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            without = [table for table in spec.tables if not table.indexes]
            assert not [table.name for table in without if "QueryIndexes" in spec.uses[table]]


def test_a_function_may_use_the_queues_and_secrets_it_declares(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            queues: dict[str, set[str]] = {
                f"<{queue.name}.Arn>": set(grants.QUEUE_SEND)
                for queue in (*spec.sends, *spec.redrives)
            }
            for queue in spec.redrives:
                queues[f"<{queue.name}.Arn>"] |= set(grants.QUEUE_LOOK)
                queues[f"<{queue.name}DeadLetters.Arn>"] = {*grants.QUEUE_LOOK, *grants.QUEUE_MOVE}
            for subscription in QUEUE_SUBSCRIPTIONS:
                if subscription.consumer == spec.name:
                    arn = f"<{subscription.source.name}.Arn>"
                    queues.setdefault(arn, set()).update(grants.QUEUE_RECEIVE)
            assert _granted(assembly, spec, "sqs:") == queues
            secrets: dict[str, set[str]] = {
                f"<{secret.name}>": set(grants.SECRET_READ) for secret in spec.secrets
            }
            for secret in spec.rewrites:
                secrets[f"<{secret.name}>"] |= set(grants.SECRET_WRITE)
            assert _granted(assembly, spec, "secretsmanager:") == secrets


def test_a_function_may_make_the_search_requests_of_its_access(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            expected: dict[str, set[str]] = {}
            for action, path in grants.SEARCH[spec.search]:
                expected.setdefault(f"<SearchDomain.Arn>/{path}", set()).add(action)
            assert _granted(assembly, spec, "es:") == expected


def test_only_access_that_writes_sends_a_bulk_and_only_management_makes_indexes() -> None:
    def has(access: SearchAccess, method: str, path: str) -> bool:
        policies = Policies(
            {"Effect": "Allow", "Action": action, "Resource": f"{_DOMAIN}/{allowed}"}
            for action, allowed in grants.SEARCH[access]
        )
        return policies.decide(f"es:ESHttp{method}", f"{_DOMAIN}/{path}").allowed

    accesses = get_args(SearchAccess)
    assert {each for each in accesses if has(each, "Post", "_bulk")} == {"write", "sweep", "renew"}
    assert {each for each in accesses if has(each, "Put", "assets-1")} == {"manage", "renew"}
    searching = {each for each in accesses if has(each, "Post", "a,b/_search")}
    assert searching == {"query", "read", "sweep", "renew"}
    assert {each for each in accesses if has(each, "Delete", "assets-1")} == {"renew"}
    for method in ("Delete", "Put"):
        assert not [each for each in accesses if has(each, method, "others-1")]


def test_a_role_grants_only_what_these_tests_list(
    assembly: Assembly, subtests: pytest.Subtests
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            known = ("dynamodb:", "s3:", "sqs:", "secretsmanager:", "es:", "kms:", "logs:")
            known += ("states:",) if spec.runs else ()  # see test_pipelines.py
            known += ("lambda:",) if spec.calls else ()  # see test_readers.py
            # see test_assembly.py
            quotas = grants.QUOTAS_READ if spec.reads_quotas else ()
            known += quotas
            known += ("sns:",) if spec.topics else ()  # see test_administration.py
            arns = [f"arn:<AWS::Partition>:s3:::{name}" for name in assembly.imported_buckets]
            places = ("", *_objects_of(spec, ASSET_BUCKET))
            imported = {f"{arn}{place}" for arn in arns for place in places}
            role = assembly.resource(f"{spec.name}Role")
            assert "ManagedPolicyArns" not in role.properties
            for actions, resources in assembly.statements(role):
                assert all(action.startswith(known) for action in actions)
                for resource in set(resources) - imported:
                    if actions[0].startswith("states:") or actions == list(quotas):
                        continue
                    assert re.match(r"<\w+(\.\w+)?>", resource), resource
            assert _granted(assembly, spec, "logs:") == {
                f"<{spec.name}Logs.Arn>": {"logs:CreateLogStream", "logs:PutLogEvents"}
            }


def test_no_policy_exists_beside_the_roles(assembly: Assembly) -> None:
    for kind in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
        assert not assembly.of_type(kind)
    scans = assembly.of_type("AWS::GuardDuty::MalwareProtectionPlan")
    others = {"MalwareScanRole" for _ in scans}
    of_functions = {f"{spec.name}Role" for spec in FUNCTIONS}
    assert set(assembly.of_type("AWS::IAM::Role")) == of_functions | others | {"ExecutionsRole"}


def test_a_role_fits_into_what_iam_takes(hardened: Assembly, subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            role = hardened.resource(f"{spec.name}Role")
            length = sum(
                len("".join(actions)) + sum(_arn_length(resource) for resource in resources) + 60
                for actions, resources in hardened.statements(role)
            )
            assert (
                length + (POLICY_CHARS if ASSET_BUCKET in spec.buckets else 0)
                < INLINE_POLICY_CHARACTERS
            )


def _arn_length(resource: str) -> int:
    """An upper bound for an ARN: physical names have the stack, the logical id and 13 more."""
    return len(resource) + len("arn:aws-us-gov:secretsmanager:us-gov-west-1:111122223333:") + 40
