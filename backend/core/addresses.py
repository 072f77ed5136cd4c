"""Which internet addresses the product may connect to if a URL comes from outside. Pure.

A URL from a setting, a user or another server may point into the deployment's own network: to
neighbouring services, or to the endpoint that returns its credentials. Addresses are checked
instead of names, because a name can resolve to another address at any time.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_AZURE_WIRE_SERVER = IPv4Address("168.63.129.16")
"""Public by its number; in Azure's networks it is the host's own service."""
_EMBEDDING = (
    IPv6Network("::ffff:0:0/96"),  # mapped (RFC 4291, 2.5.5.2)
    IPv6Network("::ffff:0:0:0/96"),  # translated (RFC 2765, 2.1)
    IPv6Network("64:ff9b::/96"),  # NAT64 (RFC 6052, 2.1)
)
"""Networks whose addresses mean the IPv4 address in their last 32 bits."""
_NEVER_IPV4 = (
    IPv4Network("192.0.0.0/24"),  # of the protocols' own (RFC 6890); Python 3.11 knows a part
    IPv4Network("192.88.99.0/24"),  # relays of 6to4 (RFC 7526)
)
_NEVER_IPV6 = (
    IPv6Network("::/96"),  # the unspecified one, loopback, IPv4-compatible (RFC 4291)
    IPv6Network("64:ff9b:1::/48"),  # NAT64 within a network (RFC 8215)
    IPv6Network("2001::/32"),  # Teredo: its IPv4 address may be any (RFC 4380)
    IPv6Network("2002::/16"),  # 6to4: likewise (RFC 3056)
    IPv6Network("3fff::/20"),  # documentation (RFC 9637), which Python 3.11 does not know
    IPv6Network("5f00::/16"),  # segment routing (RFC 9602), likewise
    IPv6Network("fec0::/10"),  # site-local (RFC 3879)
)


def is_public(text: str) -> bool:
    """Return whether a resolved address belongs to the public internet.

    Invalid addresses and addresses with a zone (`fe80::1%eth0`) do not.
    """
    try:
        return _is_public(ip_address(text))
    except ValueError:
        return False


def is_loopback(text: str) -> bool:
    """Return whether an address is a loopback address, not embedded in another one."""
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        if any(address in network for network in _EMBEDDING):
            return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if any(address in network for network in _NEVER_IPV6):
            return False
    elif any(address in network for network in _NEVER_IPV4):
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and address != _AZURE_WIRE_SERVER
    )
