"""Converts address ranges of settings to the form that functions parse."""

from ipaddress import ip_address, ip_network
from typing import cast

_RULE = "must be a network such as 192.0.2.0/24, or two addresses such as 192.0.2.1-192.0.2.9"


def address_range(value: object) -> str:
    """Return the first and the last address, joined by `-`.

    Raises:
        ValueError: the text is neither a network nor two addresses of one kind in order.
    """
    try:
        return _range(value)
    except ValueError as error:
        raise ValueError(_RULE) from error


def _range(value: object) -> str:
    if isinstance(value, str) and "-" not in value:
        network = ip_network(value)
        return f"{network[0]}-{network[-1]}"
    if isinstance(value, str):
        ends = value.split("-")
    elif isinstance(value, list | tuple):
        ends = [str(each) for each in cast("list[object]", value)]
    else:
        ends = []
    if len(ends) != 2:
        raise ValueError("not two addresses")
    first, last = (ip_address(each.strip()) for each in ends)
    if first.version != last.version or int(first) > int(last):
        raise ValueError("not of one kind, or not in order")
    return f"{first}-{last}"
