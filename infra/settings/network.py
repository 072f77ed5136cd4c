"""The network of the search domain: its zones, its addresses, its functions and endpoints."""

from collections.abc import Iterable
from ipaddress import IPv4Network

from backend.spec.functions import Function

VPC_RANGE = "10.0.0.0/16"
# A VPC has at most a /16. Subnets are a sixteenth: of a /22 they have 64 addresses, of which AWS
# uses five itself.
_LARGEST, _SMALLEST = 16, 22
# Sixteen subnets, of which a region's zones use at most six.
_SUBNET_BITS = 4
_RULE = f"must be an IPv4 network such as {VPC_RANGE}, of a size from /{_LARGEST} to /{_SMALLEST}"


def check_vpc_range(text: str) -> str:
    """Return a valid range of addresses for a VPC.

    Raises:
        ValueError: the range is not valid, or too small for the subnets.
    """
    try:
        network = IPv4Network(text)
    except ValueError as error:
        raise ValueError(_RULE) from error
    if "/" not in text or not _LARGEST <= network.prefixlen <= _SMALLEST:
        raise ValueError(_RULE)
    if network.is_multicast or network.is_loopback or network.is_link_local or network.is_reserved:
        raise ValueError("must be a network whose addresses a VPC may have")
    return text


def subnet_ranges(vpc_range: str) -> list[str]:
    """Return the possible ranges of subnets, in order."""
    subnets = IPv4Network(vpc_range).subnets(prefixlen_diff=_SUBNET_BITS)
    return [str(subnet) for subnet in subnets]


def zones_of(nodes: int) -> int:
    """Return the number of zones for this number of nodes: one for one node, otherwise three."""
    # Without dedicated master nodes the data nodes elect the master by majority, and with two zones
    # the loss of one leaves no majority. Source: Amazon OpenSearch Service Developer Guide,
    # "Configuring a multi-AZ domain".
    return 1 if nodes == 1 else 3


def spread_evenly(nodes: int) -> int:
    """Return the number itself, if each zone has the same number of nodes.

    Raises:
        ValueError: a deployment would fail, after its other stacks were created.
    """
    if nodes % zones_of(nodes):
        raise ValueError("must be 1, or a multiple of 3: each of three zones has as many nodes")
    return nodes


def in_network(spec: Function) -> bool:
    """Return whether the function is placed in the network; others keep their internet access."""
    return spec.search != "none"


def endpoint_services(functions: Iterable[Function]) -> list[str]:
    """Return the services that functions in the network call, except tables and buckets.

    Each has an interface endpoint in every zone. Tables and buckets have gateway endpoints, which
    are free.
    """
    inside = [spec for spec in functions if in_network(spec)]
    used = {
        "secretsmanager": any(spec.secrets for spec in inside),
        "sns": any(spec.topics for spec in inside),
        "sqs": any(spec.sends or spec.redrives for spec in inside),
        "cognito-idp": any(spec.user_pool in {"read", "administered"} for spec in inside),
    }
    return sorted(service for service, is_used in used.items() if is_used)
