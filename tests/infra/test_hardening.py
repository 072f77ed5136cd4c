"""Every template is hardened and encrypted, with its readers of data and its limits."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from backend.domains.jobs.service.runner import LONGEST_LEASE_SECONDS
from backend.spec.buckets import ACCESS_LOGS_BUCKET, ASSET_BUCKET, BUCKETS
from backend.spec.functions import FUNCTIONS
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.jobs import JOB_QUEUES
from backend.spec.metrics import ROUTES_NOT_SERVED
from backend.spec.queues import QUEUE_SUBSCRIPTIONS, QUEUES, Queue
from backend.spec.routes import LIST_SIMILAR_FILES, ROUTES
from backend.spec.routes.later import GATEWAY_KEYS, LATER_ROUTES
from backend.spec.search_indexes import SEARCH_INDEXES
from backend.spec.secrets import SECRETS
from backend.spec.tables import TABLES
from infra.settings import default_context, read_settings
from infra.settings.contradictions import POLICY_CHARS
from infra.settings.network import endpoint_services, zones_of
from local.resources.registry import INERT, creator_of
from tests.infra.templates import ROOT, Assembly


def test_only_functions_that_use_search_are_in_the_network(hardened: Assembly) -> None:
    domain = hardened.resource("SearchDomain").properties
    subnets = domain["VPCOptions"]["SubnetIds"]
    for spec in FUNCTIONS:
        placed = hardened.resource(spec.name).properties.get("VpcConfig")
        assert (placed is None) == (spec.search == "none"), spec.name
        if placed is not None:
            assert hardened.texts(placed["SecurityGroupIds"]) == ["<SearchFunctionsGroup.GroupId>"]
            assert hardened.texts(placed["SubnetIds"]) == hardened.texts(subnets)


def test_the_authorizer_stays_outside() -> None:
    # It reads keys of identity providers from the internet.
    assert AUTHORIZER.search == "none"


def test_the_network_has_no_way_to_the_internet(hardened: Assembly) -> None:
    kinds = {resource.type for resource in hardened.all}
    assert not kinds & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}


def test_there_is_an_endpoint_for_each_service_that_those_functions_call(
    hardened: Assembly,
) -> None:
    """A role names every service that its function calls; the domain is in the network itself."""
    called = {"dynamodb", "s3"}
    for spec in FUNCTIONS:
        if spec.search != "none":
            role = hardened.resource(f"{spec.name}Role")
            called |= {
                action.partition(":")[0] for a, _ in hardened.statements(role) for action in a
            }
    # Lambda writes logs and joins networks itself; keys are used by the services that they protect.
    called -= {"ec2", "es", "kms", "logs"}
    endpoints = [e.properties for e in hardened.of_type("AWS::EC2::VPCEndpoint").values()]
    names = [e["ServiceName"] for e in endpoints]
    usual = [name["Fn::If"][2] if "Fn::If" in name else name for name in names]
    assert {hardened.text(name).rpartition(".")[2] for name in usual} == called
    # Source: `VPC_ENDPOINT_SERVICE_EXCEPTIONS` of the AWS CDK, for cn-north-1 and cn-northwest-1.
    (of_china,) = (name["Fn::If"] for name in names if "Fn::If" in name)
    assert of_china[0] == "InChina"
    assert hardened.text(of_china[1]) == f"cn.{hardened.text(of_china[2])}"
    assert hardened.text(of_china[2]).endswith(".sqs")
    # The page on costs has their number, and that they are in each zone.
    assert set(endpoint_services(FUNCTIONS)) == called - {"dynamodb", "s3"}
    in_zones = [len(e["SubnetIds"]) for e in endpoints if "SubnetIds" in e]
    assert in_zones == [zones_of(3)] * (len(called) - 2)


def test_the_indexes_declare_what_is_slow_and_log_no_documents() -> None:
    for index in SEARCH_INDEXES:
        settings = index.tuning["index"]
        assert set(settings["search"]["slowlog"]["threshold"]) == {"query", "fetch"}
        assert settings["indexing"]["slowlog"]["source"] == "false"


def test_the_local_runtime_refuses_only_the_network_and_the_edge(
    hardened: Assembly, locked: Assembly
) -> None:
    unknown = {
        (resource.type.split("::")[1], resource.stack == "web")
        for resource in (*hardened.all, *locked.all)
        if creator_of(resource.type) is None and resource.type not in INERT
    }
    assert unknown == {("EC2", False), ("Events", False), ("CloudFront", True), ("Cognito", True)}


PAGE_BUCKET = "PageBucket"  # its files are public
ENCRYPTED = {
    "AWS::DynamoDB::Table": {table.name for table in TABLES},
    "AWS::S3::Bucket": {PAGE_BUCKET, *(bucket.name for bucket in BUCKETS)},
    "AWS::SQS::Queue": {f"{q.name}{end}" for q in QUEUES for end in ("", "DeadLetters")},
    "AWS::SecretsManager::Secret": {secret.name for secret in SECRETS},
    "AWS::Logs::LogGroup": {f"{spec.name}Logs" for spec in FUNCTIONS}
    | {"ApiAccessLogs", "ExecutionsLogs", "PageDeploymentLogs"},
    "AWS::OpenSearchService::Domain": {"SearchDomain"},
}
"""Every resource that stores data, by its type, from the declarations."""
NAMES = sorted(name for names in ENCRYPTED.values() for name in names)


def _key_of(assembly: Assembly, name: str) -> Any:
    resource = assembly.resource(name)
    properties = resource.properties
    match resource.type:
        case "AWS::DynamoDB::Table":
            return properties.get("SSESpecification", {}).get("KMSMasterKeyId")
        case "AWS::S3::Bucket":
            (rule,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            by_default = rule["ServerSideEncryptionByDefault"]
            encrypted = by_default["SSEAlgorithm"] == "aws:kms"
            assert encrypted or by_default == {"SSEAlgorithm": "AES256"}
            return by_default.get("KMSMasterKeyID")
        case "AWS::SQS::Queue":
            assert ("SqsManagedSseEnabled" in properties) != ("KmsMasterKeyId" in properties)
            return properties.get("KmsMasterKeyId")
        case "AWS::OpenSearchService::Domain":
            return properties["EncryptionAtRestOptions"].get("KmsKeyId")
        case _:
            return properties.get("KmsKeyId")


def test_nothing_keeps_data_but_what_is_listed_here(prod: Assembly) -> None:
    for kind, names in ENCRYPTED.items():
        assert set(prod.of_type(kind)) == names


def test_whatever_keeps_data_is_encrypted_by_the_key(
    prod: Assembly, subtests: pytest.Subtests
) -> None:
    for name in NAMES:
        with subtests.test(name):
            key = _key_of(prod, name)
            if name in {PAGE_BUCKET, ACCESS_LOGS_BUCKET.name}:  # S3 delivers logs to no other
                assert key is None
            else:
                assert prod.text(key) in {"<DataKey.Arn>", "<DataKey>"}


def test_without_a_key_of_the_customer_nothing_names_one(small: Assembly) -> None:
    assert not small.of_type("AWS::KMS::Key")
    names = {name for kind in ENCRYPTED for name in small.of_type(kind)}
    assert [name for name in sorted(names) if _key_of(small, name) is not None] == []


READERS = [spec for spec in FUNCTIONS if spec.kind == "reader"]
CALLERS = [spec for spec in FUNCTIONS if spec.calls]


@pytest.fixture(scope="module")
def waiting(synthesized: Callable[[str], Assembly]) -> Assembly:
    """A stage whose pipelines always wait for readers in a network."""
    return synthesized("without-search")


def _settings(**given: object) -> Any:
    return read_settings((default_context() | {"stage": "local"} | given).get)


def test_readers_write_their_log_and_nothing_else(prod: Assembly) -> None:
    assert "InspectReader" in {spec.name for spec in READERS}
    for spec in READERS:
        (statement,) = prod.statements(prod.resource(f"{spec.name}Role"))
        assert statement == (
            ["logs:CreateLogStream", "logs:PutLogEvents"],
            [f"<{spec.name}Logs.Arn>"],
        )


def test_a_pipeline_runs_longer_than_its_reader() -> None:
    for spec in CALLERS:
        (reader,) = spec.calls
        assert spec.timeout_seconds > 2 * (reader.timeout_seconds + 30)
        assert reader.packages == spec.packages


def test_readers_in_a_network_reach_objects_of_our_buckets_only(waiting: Assembly) -> None:
    functions = waiting.of_type("AWS::Lambda::Function").items()
    placed = {name for name, function in functions if "VpcConfig" in function.properties}
    assert placed == {spec.name for spec in READERS}
    (endpoint,) = waiting.of_type("AWS::EC2::VPCEndpoint").values()
    assert endpoint.properties["VpcEndpointType"] == "Gateway"  # which the page on costs states
    (statement,) = endpoint.properties["PolicyDocument"]["Statement"]
    assert set(statement["Action"]) == {"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"}
    assert set(waiting.texts(statement["Resource"])) == {
        *("<AssetBucket.Arn>/*", "<AssetAuxiliaryBucket.Arn>/*"),
    }
    assert "SecurityGroupIngress" not in waiting.resource("ReadersGroup").properties
    kinds = {resource.type for resource in waiting.all}
    assert not kinds & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}


def test_an_execution_counts_as_two_instances_of_half_of_the_account() -> None:
    """Pipelines that wait cannot take the instances of the readers for which they wait."""
    for account, at_once, expected in (
        (1000, 50, 50),
        (1000, 900, 250),
        (200, 50, 50),
        (120, 50, 30),
    ):
        value = {"accountConcurrency": account, "executionsAtOnce": at_once, "queueConcurrency": 2}
        assert _settings(**value).environment()["EXECUTIONS_AT_ONCE"] == str(expected)


MOST_RESOURCES = 450  # of a stack; CloudFormation takes 500
MOST_OUTPUTS = 200  # of a stack; source: "Understand CloudFormation quotas"
INLINE_POLICY_CHARS = 10_240  # of all policies of a role, white space not counted
KEPT = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SecretsManager::Secret", "AWS::KMS::Key")
SUSPICIOUS = {
    "an access key": r"\b(AKIA|ASIA)[A-Z0-9]{16}\b",
    "a private key": r"PRIVATE KEY",
    "a time": r"\b20\d\d-\d\d-\d\dT\d\d",
    "a folder of this machine": r'"/(home|root|tmp|Users|work)/',
    "an account": r":(?!111122223333)\d{12}:",  # except the topic of this test
}


def test_every_stack_stays_below_the_limits_of_cloudformation(hardened: Assembly) -> None:
    for template in hardened.templates.values():
        assert len(template["Resources"]) < MOST_RESOURCES
        assert len(template.get("Outputs", {})) <= MOST_OUTPUTS


def test_a_logical_id_is_used_once_in_the_whole_deployment_but_for_the_layers(
    hardened: Assembly,
) -> None:
    named = [resource.name for resource in hardened.all]
    names = [name for name in named if not name.endswith("Dependencies")]
    assert len(set(names)) == len(names)


def test_a_role_fits_into_what_iam_takes(hardened: Assembly, subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            role = hardened.resource(f"{spec.name}Role")
            length = sum(
                len("".join(actions)) + sum(map(_most_arn_chars, resources)) + 60
                for actions, resources in hardened.statements(role)
            )
            more = POLICY_CHARS if ASSET_BUCKET in spec.buckets else 0
            assert length + more < INLINE_POLICY_CHARS


def _most_arn_chars(resource: str) -> int:
    """An upper bound for an ARN: physical names have the stack, the logical id and 13 more."""
    name = re.sub(r"<(\w+)(?:\.Arn)?>", r"\1", resource)  # of a reference, its logical id
    return len(name) + len("arn:aws-us-gov:secretsmanager:us-gov-west-1:111122223333:") + 40


def test_whatever_holds_data_outlives_its_stack(prod: Assembly) -> None:
    kept = [resource for resource in prod.all if resource.type in KEPT]
    assert len(kept) == len(TABLES) + len(BUCKETS) + len(SECRETS) + 2  # the key, the page's bucket
    for resource in kept:
        assert resource.body["DeletionPolicy"] == "RetainExceptOnCreate", resource.name
        assert resource.body["UpdateReplacePolicy"] == "Retain", resource.name


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: queue.name)
def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run_one_of_a_job_twice(
    prod: Assembly, queue: Queue
) -> None:
    properties = prod.resource(queue.name).properties
    consumers = {s.consumer for s in QUEUE_SUBSCRIPTIONS if s.source is queue}
    longest = max(spec.timeout_seconds for spec in FUNCTIONS if spec.name in consumers)
    hidden = properties["VisibilityTimeout"]
    if queue in JOB_QUEUES:
        assert hidden == 2 * longest == LONGEST_LEASE_SECONDS
    else:
        assert hidden == 6 * longest
    tried_seconds = properties["RedrivePolicy"]["maxReceiveCount"] * hidden
    assert tried_seconds <= properties["MessageRetentionPeriod"] / 2


def test_a_function_that_may_loop_sends_to_a_queue_that_it_receives(
    subtests: pytest.Subtests,
) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            received = {s.source for s in QUEUE_SUBSCRIPTIONS if s.consumer == spec.name}
            assert spec.loops <= bool(received & set(spec.sends))


def test_only_tables_with_indexes_are_queried_by_index(subtests: pytest.Subtests) -> None:
    for spec in FUNCTIONS:
        with subtests.test(spec.name):
            without = [table for table in spec.tables if not table.indexes]
            assert not [table.name for table in without if "QueryIndexes" in spec.uses[table]]


@pytest.mark.parametrize("what", sorted(SUSPICIOUS))
def test_no_template_holds(prod: Assembly, what: str) -> None:
    for path in prod.folder.glob("*.json"):
        assert re.search(SUSPICIOUS[what], path.read_text()) is None, path.name


def test_nothing_reads_the_callers_address_from_a_header(prod: Assembly) -> None:
    """Any client may send such a header: only the gateway's own `sourceIp` counts."""
    folders = (ROOT / "backend", ROOT / "infra")
    sources = [path.read_text() for folder in folders for path in folder.rglob("*.py")]
    header = re.compile("x-forwarded-for|x-real-ip|forwardedipconfig|client-ip", re.IGNORECASE)
    for text in (json.dumps(prod.templates), *sources):
        assert header.search(text) is None


def test_a_route_that_costs_or_needs_no_credentials_is_in_a_group(
    subtests: pytest.Subtests,
) -> None:
    for route in ROUTES:
        with subtests.test(route.key):
            groups = {"search": "search", "exports": "export"}
            expected = "public" if route.public else groups.get(route.domain)
            if route is LIST_SIMILAR_FILES:
                expected = "search"
            assert route.throttle == (expected or route.throttle)
            assert (expected is None) == (route.throttle in {None, "signIn"})
    signing_in = {route.path for route in ROUTES if route.throttle == "signIn"}
    assert signing_in == {
        *("/auth/routes", "/auth/routes/api/allowed"),
        *("/auth/loginProfile/{userId}", "/auth/session"),
    }


def test_an_alias_is_as_public_and_limited_as_its_route(hardened: Assembly) -> None:
    routes = _gateway_routes(hardened)
    (stage,) = hardened.of_type("AWS::ApiGatewayV2::Stage").values()
    for route in ROUTES:
        for path in route.aliases:
            key = f"{route.method} {path}"
            assert routes[key] == routes[route.key]
            settings = stage.properties["RouteSettings"]
            assert settings[key] == settings[route.key]


def test_routes_of_a_later_contract_need_credentials_and_raise_no_alarm(
    hardened: Assembly, prod: Assembly
) -> None:
    routes = _gateway_routes(hardened)
    assert len(GATEWAY_KEYS) < len(LATER_ROUTES) / 3
    assert {routes[key]["AuthorizationType"] for key in GATEWAY_KEYS} == {"CUSTOM"}
    assert {str(routes[key]["Target"]) for key in GATEWAY_KEYS} == {
        str(routes["GET /api/version"]["Target"])
    }
    alarm = prod.resource("ApiServerErrorsAlarm").properties
    expressions = [query["Expression"] for query in alarm["Metrics"] if "Expression" in query]
    assert expressions == ["errors - FILL(notServed, 0) - 5"]
    watched = [query["MetricStat"]["Metric"] for query in alarm["Metrics"] if "MetricStat" in query]
    assert {metric["MetricName"] for metric in watched} == {"5xx", ROUTES_NOT_SERVED.name}


def _gateway_routes(assembly: Assembly) -> dict[str, dict[str, Any]]:
    """Return the properties of each route by its key, without the key."""
    return {
        route.properties["RouteKey"]: {
            name: value for name, value in route.properties.items() if name != "RouteKey"
        }
        for route in assembly.of_type("AWS::ApiGatewayV2::Route").values()
    }
