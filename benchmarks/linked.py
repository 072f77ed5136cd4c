"""Operations on links between assets, and exports, for the page on costs."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Request = tuple[str, Mapping[str, Any] | None]
Named = tuple[str, str, Callable[[int], Request]]
"""A name, a method, and a function that returns the nth request."""

LEVELS, CHILDREN = 4, 20


def operations_on_links(
    call: Callable[..., Any], new_asset: Callable[[str], str]
) -> Iterator[Named]:
    """Creates links, reads and removes them; `new_asset` creates assets from their ids."""

    def pair(number: int, verb: str) -> tuple[str, str]:
        names = f"{verb}-from-{number}", f"{verb}-to-{number}"
        for name in names:
            new_asset(name)
        return names

    def below(number: int) -> Request:
        new_asset(f"leaf-{number}")
        return "/asset-links", _link(f"level-{LEVELS - 1}", f"leaf-{number}")

    def gone(number: int) -> Request:
        made = call("POST", "/asset-links", _link(*pair(number, "unlinked")))
        return f"/asset-links/{made['assetLinkId']}", None

    _make_trees(call, new_asset)
    assembly = "/database/museum/assets/assembly"
    yield (
        "relate two assets",
        "POST",
        lambda n: ("/asset-links", _link(*pair(n, "near"), "related")),
    )
    yield f"put an asset below {LEVELS} others", "POST", below
    yield "remove a link", "DELETE", gone
    yield f"list {CHILDREN} children", "GET", lambda _: (f"{assembly}/asset-links", None)
    tree = f"{assembly}/asset-links?childTreeView=true"
    yield f"read a tree of {CHILDREN} children", "GET", lambda _: (tree, None)
    yield f"export {CHILDREN} children", "POST", lambda _: (f"{assembly}/export", {})


def _link(source: str, target: str, kind: str = "parentChild") -> Mapping[str, Any]:
    return {
        "fromAssetDatabaseId": "museum",
        "fromAssetId": source,
        "toAssetDatabaseId": "museum",
        "toAssetId": target,
        "relationshipType": kind,
    }


def _make_trees(call: Callable[..., Any], new_asset: Callable[[str], str]) -> None:
    """A deep tree, with one asset per level, and a wide one, `assembly`."""
    for number in range(LEVELS):
        new_asset(f"level-{number}")
        if number:
            call("POST", "/asset-links", _link(f"level-{number - 1}", f"level-{number}"))
    new_asset("assembly")
    for number in range(CHILDREN):
        new_asset(f"piece-{number:02}")
        call("POST", "/asset-links", _link("assembly", f"piece-{number:02}"))
