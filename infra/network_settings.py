"""The settings of a deployment about the network of the search domain."""

from ipaddress import IPv4Network
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, model_validator

from infra.setting_types import SETTINGS_CONFIG, SubnetId, VpcId, ZoneName

# A VPC has at most a /16. Subnets are a sixteenth: of a /22 they have 64 addresses, of which AWS
# uses five itself.
_LARGEST, _SMALLEST = 16, 22
# Sixteen subnets, of which a region's zones use at most six.
_SUBNET_BITS = 4
_RANGE = "10.0.0.0/16"
_RULE = f"must be an IPv4 network such as {_RANGE}, of a size from /{_LARGEST} to /{_SMALLEST}"


def _fitting(text: str) -> str:
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


class NetworkSettings(BaseModel):
    """The settings of a stage about the network of the search domain."""

    model_config = SETTINGS_CONFIG

    search_in_vpc: bool = False
    """Whether to create the search domain in a network (VPC) without internet access, with the
    functions that use search. Choose it before the first deployment: AWS cannot move a domain. Its
    endpoints are charged by the hour."""

    search_vpc_range: Annotated[str, AfterValidator(_fitting)] = _RANGE
    """Addresses of that network, from /16 to /22. Each subnet has a sixteenth of them."""

    search_vpc_zones: tuple[ZoneName, ...] = ()
    """Names of the availability zones of that network, as many as the nodes of the domain use: one
    for one node, otherwise three. Default: the first zones of the region."""

    search_vpc_id: VpcId = ""
    """An existing VPC to use instead of creating one, with `searchSubnetIds`. Its owner provides
    the endpoints or routes to other services."""

    search_subnet_ids: tuple[SubnetId, ...] = ()
    """Subnets of `searchVpcId`, each in a different zone, as many as the nodes use."""

    @model_validator(mode="after")
    def _check_network(self) -> Self:
        for name, ids in (
            ("searchVpcZones", self.search_vpc_zones),
            ("searchSubnetIds", self.search_subnet_ids),
        ):
            if len(set(ids)) < len(ids):
                raise ValueError(f"{name} names one twice")
        own = self.search_vpc_range != _RANGE or self.search_vpc_zones
        if bool(self.search_vpc_id) != bool(self.search_subnet_ids):
            raise ValueError("searchVpcId and searchSubnetIds need each other")
        if self.search_vpc_id and own:
            raise ValueError(
                "searchVpcRange and searchVpcZones are of a new network, searchVpcId names an "
                "existing one"
            )
        return self

    def check_zones(self, zones: int) -> None:
        """Check that the network has as many zones as the nodes of the search domain use.

        Raises:
            ValueError: it has more or fewer.
        """
        for name, given in (
            ("searchVpcZones", self.search_vpc_zones),
            ("searchSubnetIds", self.search_subnet_ids),
        ):
            if given and len(given) != zones:
                raise ValueError(
                    f"{name} has {len(given)}, and searchInstanceCount needs {zones}: one for one "
                    "node, else three"
                )

    def search_subnet_ranges(self) -> list[str]:
        """Return the possible ranges of subnets, in order."""
        network = IPv4Network(self.search_vpc_range)
        return [str(each) for each in network.subnets(prefixlen_diff=_SUBNET_BITS)]
