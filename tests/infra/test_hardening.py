"""Optional protections: the search domain's network and logs, the user pool's firewall."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.functions.operations import AUTHORIZER
from backend.spec.search_indexes import SEARCH_INDEXES
from infra import grants
from infra.settings.network import endpoint_services, zones_of
from local.resources.registry import INERT, creator_of
from tests.infra.contexts import SUBNETS, VPC, ZONES
from tests.infra.templates import Assembly, Resource

EACH_FUNCTION = pytest.mark.parametrize("spec", FUNCTIONS, ids=lambda spec: spec.name)
FIREWALL = "AWS::WAFv2::WebACL"
GROUP = "AWS::EC2::SecurityGroup"


def _text(assembly: Assembly, value: Any) -> str:
    """A value whose parts may be results of CloudFormation's functions."""
    match value:
        case {"Fn::Select": [place, {"Fn::GetAZs": ""}]}:
            return f"zone {place}"
        case _:
            return assembly.text(value)


def _domain(assembly: Assembly) -> dict[str, Any]:
    return assembly.resource("SearchDomain").properties


def test_no_stage_has_a_network_a_firewall_or_logs_of_search_unless_it_enables_them(
    assembly: Assembly,
) -> None:
    kinds = {resource.type for resource in assembly.all}
    assert not [kind for kind in kinds if kind.startswith(("AWS::EC2::", "AWS::WAFv2::"))]
    assert "VPCOptions" not in _domain(assembly)
    assert _domain(assembly)["LogPublishingOptions"] == {}
    for function in assembly.of_type("AWS::Lambda::Function").values():
        assert "VpcConfig" not in function.properties
    for role in assembly.of_type("AWS::IAM::Role").values():
        for actions, _ in assembly.statements(role):
            assert not [action for action in actions if action.startswith("ec2:")]


def test_the_domain_is_in_a_subnet_of_each_of_its_zones(hardened: Assembly) -> None:
    options = _domain(hardened)["VPCOptions"]
    assert hardened.texts(options["SecurityGroupIds"]) == ["<SearchServicesGroup.GroupId>"]
    subnets = [
        hardened.resource(name.strip("<>")).properties
        for name in hardened.texts(options["SubnetIds"])
    ]
    zones = _domain(hardened)["ClusterConfig"]["ZoneAwarenessConfig"]["AvailabilityZoneCount"]
    assert len({_text(hardened, subnet["AvailabilityZone"]) for subnet in subnets}) == zones
    assert len({subnet["CidrBlock"] for subnet in subnets}) == len(subnets) == zones


def test_the_network_has_the_range_and_zones_of_the_settings(hardened: Assembly) -> None:
    assert hardened.resource("SearchVpc").properties["CidrBlock"] == "10.20.0.0/18"
    subnets = [hardened.resource(f"SearchSubnet{zone}").properties for zone in range(3)]
    assert [each["CidrBlock"] for each in subnets] == [
        "10.20.0.0/22",
        "10.20.4.0/22",
        "10.20.8.0/22",
    ]
    assert [each["AvailabilityZone"] for each in subnets] == ZONES


def test_an_imported_network_is_used_as_it_is(
    synthesized: Callable[[str], Assembly],
) -> None:
    found = synthesized("imported-network")
    kinds = {each.type for each in found.all if each.type.startswith("AWS::EC2::")}
    assert kinds == {GROUP}
    assert {each.properties["VpcId"] for each in found.of_type(GROUP).values()} == {VPC}
    options = _domain(found)["VPCOptions"]
    assert options["SubnetIds"] == SUBNETS
    assert found.texts(options["SecurityGroupIds"]) == ["<SearchServicesGroup.GroupId>"]
    for spec in FUNCTIONS:
        placed = found.resource(spec.name).properties.get("VpcConfig")
        assert (placed is None) == (spec.search == "none"), spec.name
        if placed is not None:
            assert placed["SubnetIds"] == SUBNETS, spec.name


@EACH_FUNCTION
def test_only_functions_that_use_search_are_in_the_network(
    hardened: Assembly, spec: Function
) -> None:
    placed = hardened.resource(spec.name).properties.get("VpcConfig")
    assert (placed is None) == (spec.search == "none")
    if placed is not None:
        assert hardened.texts(placed["SecurityGroupIds"]) == ["<SearchFunctionsGroup.GroupId>"]
        subnets = _domain(hardened)["VPCOptions"]["SubnetIds"]
        assert hardened.texts(placed["SubnetIds"]) == hardened.texts(subnets)


def test_the_authorizer_stays_outside() -> None:
    # It reads keys of identity providers from the internet.
    assert AUTHORIZER.search == "none"


@EACH_FUNCTION
def test_only_lambda_itself_may_place_a_function_in_the_network(
    hardened: Assembly, spec: Function
) -> None:
    (policy,) = hardened.resource(f"{spec.name}Role").properties["Policies"]
    statements = [
        statement
        for statement in policy["PolicyDocument"]["Statement"]
        if any(action.startswith("ec2:") for action in statement["Action"])
    ]
    expected = {
        "Effect": "Allow",
        "Action": list(grants.NETWORK_JOIN),
        "Resource": "*",
        "Condition": {"Null": {"lambda:SourceFunctionArn": "true"}},
    }
    assert statements == ([] if spec.search == "none" else [expected])


def test_the_network_has_no_way_to_the_internet(hardened: Assembly) -> None:
    kinds = {resource.type for resource in hardened.all}
    assert not kinds & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}


def test_only_functions_of_the_network_reach_the_domain_and_the_endpoints(
    hardened: Assembly,
) -> None:
    assert set(hardened.of_type(GROUP)) == {"SearchFunctionsGroup", "SearchServicesGroup"}
    (rule,) = hardened.resource("SearchServicesGroup").properties["SecurityGroupIngress"]
    assert hardened.text(rule["SourceSecurityGroupId"]) == "<SearchFunctionsGroup.GroupId>"
    assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", 443, 443)
    assert "SecurityGroupIngress" not in hardened.resource("SearchFunctionsGroup").properties


def test_refused_connections_are_logged_by_a_role_that_only_writes_them(
    hardened: Assembly,
) -> None:
    (flow_log,) = hardened.of_type("AWS::EC2::FlowLog").values()
    properties = flow_log.properties
    assert hardened.text(properties["ResourceId"]) == "<SearchVpc>"
    assert (properties["ResourceType"], properties["TrafficType"]) == ("VPC", "REJECT")
    assert hardened.text(properties["LogGroupName"]) == "<SearchNetworkRefusals>"
    assert hardened.text(properties["DeliverLogsPermissionArn"]) == "<SearchFlowLogRole.Arn>"
    ((actions, resources),) = hardened.statements(hardened.resource("SearchFlowLogRole"))
    assert {action.partition(":")[0] for action in actions} == {"logs"}
    assert resources == ["<SearchNetworkRefusals.Arn>"]


def test_there_is_an_endpoint_for_each_service_that_those_functions_call(
    hardened: Assembly,
) -> None:
    """A role names every service that its function calls; the domain is in the network itself."""
    called = {"dynamodb", "s3"}
    for spec in FUNCTIONS:
        if spec.search != "none":
            role = hardened.resource(f"{spec.name}Role")
            called |= {each.partition(":")[0] for a, _ in hardened.statements(role) for each in a}
    # Lambda writes logs and joins networks itself; keys are used by the services that they protect.
    called -= {"ec2", "es", "kms", "logs"}
    endpoints = [each.properties for each in hardened.of_type("AWS::EC2::VPCEndpoint").values()]
    services = {hardened.text(each["ServiceName"]).rpartition(".")[2]: each for each in endpoints}
    assert set(services) == called
    for name, each in services.items():
        assert each["VpcEndpointType"] == ("Gateway" if name in {"dynamodb", "s3"} else "Interface")
    # The page on costs has their number, and that they are in each zone.
    assert set(endpoint_services(FUNCTIONS)) == called - {"dynamodb", "s3"}
    in_zones = [len(each["SubnetIds"]) for each in endpoints if "SubnetIds" in each]
    assert in_zones == [zones_of(3)] * (len(called) - 2)


def test_the_domain_logs_errors_and_what_is_slow(hardened: Assembly) -> None:
    options = _domain(hardened)["LogPublishingOptions"]
    groups = {
        kind: hardened.text(each["CloudWatchLogsLogGroupArn"]) for kind, each in options.items()
    }
    assert groups == {
        "ES_APPLICATION_LOGS": "<SearchErrorLogs.Arn>",
        "SEARCH_SLOW_LOGS": "<SlowSearchLogs.Arn>",
        "INDEX_SLOW_LOGS": "<SlowWriteLogs.Arn>",
    }
    assert all(each["Enabled"] is True for each in options.values())
    for arn in groups.values():
        group = hardened.resource(arn.strip("<>").removesuffix(".Arn")).properties
        assert group["RetentionInDays"] == 90
        assert hardened.text(group["KmsKeyId"]) == "<DataKey.Arn>"


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


def _rules(firewall: Resource) -> dict[str, dict[str, Any]]:
    return {rule["Name"]: rule for rule in firewall.properties["Rules"]}


def test_the_firewall_is_before_the_user_pool(hardened: Assembly) -> None:
    (association,) = hardened.of_type("AWS::WAFv2::WebACLAssociation").values()
    assert hardened.text(association.properties["ResourceArn"]) == "<UserPool.Arn>"
    assert hardened.text(association.properties["WebACLArn"]) == "<UserPoolFirewall.Arn>"


def test_the_firewall_limits_each_address_and_has_the_rules_of_aws(hardened: Assembly) -> None:
    (firewall,) = hardened.of_type(FIREWALL).values()
    assert firewall.properties["Scope"] == "REGIONAL"
    assert firewall.properties["DefaultAction"] == {"Allow": {}}
    rules = _rules(firewall)
    limited = rules.pop("RequestsOfAnAddress")
    assert limited["Action"] == {"Block": {}}
    assert limited["Statement"] == {
        "RateBasedStatement": {"AggregateKeyType": "IP", "EvaluationWindowSec": 300, "Limit": 200}
    }
    assert len(rules) == 2
    assert all(rule["OverrideAction"] == {"None": {}} for rule in rules.values())


def test_the_local_runtime_refuses_only_the_network(hardened: Assembly) -> None:
    kinds = {resource.type for resource in hardened.all}
    unknown = {kind for kind in kinds if creator_of(kind) is None and kind not in INERT}
    assert unknown
    assert all(kind.startswith("AWS::EC2::") for kind in unknown)
