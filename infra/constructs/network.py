"""Networks without internet access: of the search domain, and of readers of files.

Functions in the first network reach the domain, and other services of AWS through endpoints.
Functions in the second network reach only the deployment's buckets.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from aws_cdk import Acknowledgment, Aws, CfnCondition, Fn, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs

from backend.spec.functions import Function
from infra.constructs.naming import name_exactly
from infra.settings.network import endpoint_services

HTTPS = 443
# Source: `VPC_ENDPOINT_SERVICE_EXCEPTIONS` of the AWS CDK.
_OTHER_NAMES_IN_CHINA = {"sqs"}
READERS_ACTIONS = ("s3:GetObject", "s3:GetObjectVersion", "s3:PutObject")


@dataclass(frozen=True, slots=True)
class Network:
    """Ids of the subnets, one per zone, and of the security groups of both sides."""

    subnets: tuple[str, ...]
    functions_group: str
    services_group: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Addresses of a new network and its subnets, and the names of its zones if they are chosen."""

    addresses: str
    subnets: tuple[str, ...]
    zones: tuple[str, ...] = ()


READERS_PLAN = Plan("10.0.0.0/16", ("10.0.0.0/20", "10.0.16.0/20"))


def declared_network(
    stack: Stack, plan: Plan, *, functions: Iterable[Function], refusals: logs.LogGroup
) -> Network:
    """Return the network, with an endpoint for each service that its `functions` use.

    Connections that its security groups refuse are logged to `refusals`.
    """
    vpc = ec2.CfnVPC(
        stack,
        "SearchVpc",
        cidr_block=plan.addresses,
        enable_dns_hostnames=True,  # endpoints are found by the services' usual names
        enable_dns_support=True,
    )
    _log_refusals(stack, vpc, refusals, "Search")
    table = ec2.CfnRouteTable(stack, "SearchRoutes", vpc_id=vpc.ref)
    subnets = _subnets(stack, vpc, table, plan, "Search")
    functions_group, services_group = _groups(stack, vpc.ref)
    for service in ("dynamodb", "s3"):
        ec2.CfnVPCEndpoint(
            stack,
            f"{service.title()}Endpoint",
            vpc_id=vpc.ref,
            service_name=f"com.amazonaws.{stack.region}.{service}",
            vpc_endpoint_type="Gateway",
            route_table_ids=[table.ref],
        )
    china = CfnCondition(stack, "InChina", expression=Fn.condition_equals(Aws.PARTITION, "aws-cn"))
    for service in endpoint_services(functions):
        name = f"com.amazonaws.{stack.region}.{service}"
        if service in _OTHER_NAMES_IN_CHINA:
            name = Fn.condition_if(china.logical_id, f"cn.{name}", name).to_string()
        ec2.CfnVPCEndpoint(
            stack,
            f"{service.title()}Endpoint",
            vpc_id=vpc.ref,
            service_name=name,
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=list(subnets),
            security_group_ids=[services_group],
        )
    return Network(subnets, functions_group, services_group)


def imported_network(stack: Stack, vpc_id: str, subnets: tuple[str, ...]) -> Network:
    """Return an existing network with security groups for the functions and for the domain."""
    return Network(subnets, *_groups(stack, vpc_id))


def readers_network(stack: Stack, *, buckets: Iterable[str], refusals: logs.LogGroup) -> Network:
    """Return the network of readers, from which they reach objects of `buckets` (ARNs) only.

    Connections that its security group refuses are logged to `refusals`.
    """
    vpc = ec2.CfnVPC(
        stack,
        "ReadersVpc",
        cidr_block=READERS_PLAN.addresses,
        enable_dns_hostnames=True,
        enable_dns_support=True,
    )
    _log_refusals(stack, vpc, refusals, "Readers")
    table = ec2.CfnRouteTable(stack, "ReadersRoutes", vpc_id=vpc.ref)
    subnets = _subnets(stack, vpc, table, READERS_PLAN, "Readers")
    allowed = iam.PolicyStatement(
        principals=[cast("iam.IPrincipal", iam.AnyPrincipal())],
        actions=list(READERS_ACTIONS),
        resources=[f"{arn}/*" for arn in buckets],
    )
    ec2.CfnVPCEndpoint(
        stack,
        "ReadersS3Endpoint",
        vpc_id=vpc.ref,
        service_name=f"com.amazonaws.{stack.region}.s3",
        vpc_endpoint_type="Gateway",
        route_table_ids=[table.ref],
        policy_document=iam.PolicyDocument(statements=[allowed]),
    )
    group = ec2.CfnSecurityGroup(
        stack,
        "ReadersGroup",
        vpc_id=vpc.ref,
        group_description="Functions that read files",
        security_group_egress=[_https("HTTPS to S3")],
    )
    return Network(subnets, group.attr_group_id, group.attr_group_id)


def _https(description: str) -> ec2.CfnSecurityGroup.EgressProperty:
    return ec2.CfnSecurityGroup.EgressProperty(
        ip_protocol="tcp",
        from_port=HTTPS,
        to_port=HTTPS,
        cidr_ip="0.0.0.0/0",  # the addresses of S3 and DynamoDB; no route leads anywhere else
        description=description,
    )


def _log_refusals(stack: Stack, vpc: ec2.CfnVPC, group: logs.LogGroup, name: str) -> None:
    service = iam.ServicePrincipal(
        "vpc-flow-logs.amazonaws.com",
        conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
    )
    writing = iam.PolicyStatement(
        actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
        resources=[group.log_group_arn],
    )
    role = iam.Role(
        stack,
        f"{name}FlowLogRole",
        description=f"Lets the network of {name.lower()} log refused connections",
        assumed_by=cast("iam.IPrincipal", service),
        inline_policies={"Declared": iam.PolicyDocument(statements=[writing])},
    )
    name_exactly(role, f"{name}FlowLogRole")
    ec2.CfnFlowLog(
        stack,
        f"{name}FlowLog",
        resource_id=vpc.ref,
        resource_type="VPC",
        traffic_type="REJECT",
        log_group_name=group.log_group_name,
        deliver_logs_permission_arn=role.role_arn,
    )


def _subnets(
    stack: Stack, vpc: ec2.CfnVPC, table: ec2.CfnRouteTable, plan: Plan, name: str
) -> tuple[str, ...]:
    """Return a subnet for each range of the plan, each in a different zone."""
    made: list[str] = []
    for zone, addresses in enumerate(plan.subnets):
        subnet = ec2.CfnSubnet(
            stack,
            f"{name}Subnet{zone}",
            vpc_id=vpc.ref,
            cidr_block=addresses,
            availability_zone=plan.zones[zone] if plan.zones else Fn.select(zone, Fn.get_azs()),
            map_public_ip_on_launch=False,
        )
        if plan.zones:
            # Let cfn-lint and the CDK command accept a zone that a setting names.
            subnet.add_metadata("cfn-lint", {"config": {"ignore_checks": ["W3010"]}})
            Validations.of(subnet).acknowledge(
                Acknowledgment(id="CloudFormation-Validate::W3010", reason="the setting names it")
            )
        ec2.CfnSubnetRouteTableAssociation(
            stack,
            f"{name}Subnet{zone}Routes",
            subnet_id=subnet.ref,
            route_table_id=table.ref,
        )
        made.append(subnet.ref)
    return tuple(made)


def _groups(stack: Stack, vpc_id: str) -> tuple[str, str]:
    """Return the group of the functions, and that of the domain and endpoints they may call."""
    functions = ec2.CfnSecurityGroup(
        stack,
        "SearchFunctionsGroup",
        vpc_id=vpc_id,
        group_description="Functions that use search",
        security_group_egress=[_https("HTTPS to the domain and the endpoints")],
    )
    services = ec2.CfnSecurityGroup(
        stack,
        "SearchServicesGroup",
        vpc_id=vpc_id,
        group_description="The search domain and the endpoints of other services",
        security_group_ingress=[
            ec2.CfnSecurityGroup.IngressProperty(
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                source_security_group_id=functions.attr_group_id,
                description="HTTPS from functions that use search",
            )
        ],
    )
    return functions.attr_group_id, services.attr_group_id
