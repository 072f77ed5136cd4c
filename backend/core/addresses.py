"""Recognizes addresses of the public internet and URLs of this machine. Pure."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_EMBEDDING = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
"""Mapped and NAT64 networks, whose addresses contain an IPv4 address in their last 32 bits."""
_UNICAST = IPv6Network("2000::/3")


def is_public(text: str) -> bool:
    """Return whether a resolved address belongs to the public internet."""
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        if any(address in network for network in _EMBEDDING):
            address = IPv4Address(int(address) & 0xFFFFFFFF)
        # 6to4 and Teredo lead to the IPv4 address that they contain, which may be any.
        elif address not in _UNICAST or address.sixtofour or address.teredo:
            return False
    return address.is_global and not address.is_multicast


def is_local(url: str) -> bool:
    """Return whether a URL is on this machine, where TLS is not required."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK
