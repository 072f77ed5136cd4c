"""From which addresses requests may come."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

_Address = IPv4Address | IPv6Address


class AddressRanges:
    """Ranges of addresses, both ends included; an address that cannot be read is in none."""

    def __init__(self, ranges: Iterable[str]) -> None:
        """Take ranges such as `192.0.2.1-192.0.2.9`, as the deployment's settings write them.

        Raises:
            ValueError: one is none.
        """
        self._ranges = [_ends(each) for each in ranges]

    def __contains__(self, address: str) -> bool:
        try:
            found = _read(address)
        except ValueError:
            return False
        return any(
            first.version == found.version and int(first) <= int(found) <= int(last)
            for first, last in self._ranges
        )


def _ends(text: str) -> tuple[_Address, _Address]:
    first, dash, last = text.partition("-")
    ends = _read(first), _read(last)
    if not dash or ends[0].version != ends[1].version or int(ends[0]) > int(ends[1]):
        raise ValueError(f"{text!r} is not an IP address range such as 203.0.113.0/24")
    return ends


def _read(text: str) -> _Address:
    """The address; one of IPv4 that is written as one of IPv6 is that of IPv4."""
    found = ip_address(text.strip())
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            raise ValueError("an address with a zone")
        return found.ipv4_mapped or found
    return found
