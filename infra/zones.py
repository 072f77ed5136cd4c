"""The availability zones over which the data nodes of the search domain are spread."""


def zones_of(nodes: int) -> int:
    """How many zones so many nodes are in: three where that comes out even, else two."""
    if nodes == 1:
        return 1
    return 2 if nodes % 3 else 3


def spread_evenly(nodes: int) -> int:
    """The number itself, if each zone has as many of the nodes.

    Raises:
        ValueError: a deployment would fail, after its other stacks were made.
    """
    if nodes % zones_of(nodes):
        raise ValueError("1, or a multiple of 2 or 3: each zone has as many nodes")
    return nodes
