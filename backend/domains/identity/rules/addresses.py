"""The address ranges from which requests are allowed."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from backend.core.quoting import quoted

_Address = IPv4Address | IPv6Address


class AddressRanges:
    """Address ranges, inclusive. An address that cannot be parsed is in none."""

    def __init__(self, ranges: Iterable[str]) -> None:
        """Parse ranges such as `192.0.2.1-192.0.2.9`, the format of the deployment's settings.

        Raises:
            ValueError: a range is invalid.
        """
        self._ranges = [_ends(text) for text in ranges]

    def __contains__(self, address: str) -> bool:
        try:
            number = _read(address)
        except ValueError:
            return False
        return any(
            first.version == number.version and int(first) <= int(number) <= int(last)
            for first, last in self._ranges
        )


def _ends(text: str) -> tuple[_Address, _Address]:
    first, dash, last = text.partition("-")
    ends = _read(first), _read(last)
    if not dash or ends[0].version != ends[1].version or int(ends[0]) > int(ends[1]):
        raise ValueError(f"{quoted(text)} is not an IP address range such as 203.0.113.0/24")
    return ends


def _read(text: str) -> _Address:
    """Parse an address; an IPv4 address in IPv6 form becomes the IPv4 address."""
    parsed = ip_address(text.strip())
    if isinstance(parsed, IPv6Address):
        if parsed.scope_id is not None:
            raise ValueError("an address with a zone")
        return parsed.ipv4_mapped or parsed
    return parsed
