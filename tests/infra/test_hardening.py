"""Optional protections: the search domain's network and logs, the user pool's firewall."""

import json

from backend.spec.functions import FUNCTIONS
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.search_indexes import SEARCH_INDEXES
from infra.settings.network import endpoint_services, zones_of
from local.resources.registry import INERT, creator_of
from tests.infra.templates import Assembly


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
    services = {hardened.text(e["ServiceName"]).rpartition(".")[2]: e for e in endpoints}
    assert set(services) == called
    # The page on costs has their number, and that they are in each zone.
    assert set(endpoint_services(FUNCTIONS)) == called - {"dynamodb", "s3"}
    in_zones = [len(e["SubnetIds"]) for e in endpoints if "SubnetIds" in e]
    assert in_zones == [zones_of(3)] * (len(called) - 2)


def test_the_domain_may_write_to_its_log_groups_before_it_is_created(hardened: Assembly) -> None:
    (policy,) = hardened.of_type("AWS::Logs::ResourcePolicy").values()
    assert policy.name in hardened.resource("SearchDomain").body["DependsOn"]
    (statement,) = json.loads(hardened.text(policy.properties["PolicyDocument"]))["Statement"]
    assert statement["Principal"] == {"Service": "es.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "<AWS::AccountId>"}}
    assert sorted(statement["Resource"]) == [
        "<SearchErrorLogs.Arn>",
        "<SlowSearchLogs.Arn>",
        "<SlowWriteLogs.Arn>",
    ]


def test_the_indexes_declare_what_is_slow_and_log_no_documents() -> None:
    for index in SEARCH_INDEXES:
        settings = index.tuning["index"]
        assert set(settings["search"]["slowlog"]["threshold"]) == {"query", "fetch"}
        assert settings["indexing"]["slowlog"]["source"] == "false"


def test_the_local_runtime_refuses_only_the_network(hardened: Assembly, locked: Assembly) -> None:
    kinds = {resource.type for resource in (*hardened.all, *locked.all)}
    unknown = {kind for kind in kinds if creator_of(kind) is None and kind not in INERT}
    assert unknown
    assert all(kind.startswith("AWS::EC2::") for kind in unknown)
