"""The availability zones over which the data nodes of the search domain are spread."""


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
