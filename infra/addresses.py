"""Converts address ranges of settings to the form that functions parse."""

from ipaddress import ip_address, ip_network
from typing import cast


def address_range(value: object) -> str:
    """Return the first and the last address, joined by `-`.

    Raises:
        ValueError: the text is not a network, and not two addresses of one kind in order.
    """
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
        raise ValueError("a network such as 192.0.2.0/24 or two addresses are needed")
    first, last = (ip_address(each.strip()) for each in ends)
    if first.version != last.version or int(first) > int(last):
        raise ValueError("the first address must not come after the last")
    return f"{first}-{last}"
