"""The errors of asset links."""

from backend.core.errors import (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    StateForbidsError,
    TooLargeError,
    UnavailableError,
)
from backend.core.references import AssetRef
from backend.domains.asset_links.models import (
    MAX_LINKS,
    MAX_TREE_DEPTH,
    MAX_TREE_NODES,
    MAX_WALKED,
    EdgeKind,
)


class CycleError(StateForbidsError):
    """The link would make an asset its own ancestor."""

    code = "AssetLinkCycle"

    def __init__(self, parent: AssetRef, child: AssetRef) -> None:
        super().__init__(
            f"Asset {child.asset_id} is an ancestor of asset {parent.asset_id}; linking it "
            "as a child would create a cycle"
        )


class TooWideError(StateForbidsError):
    """The trees around the assets are too large to be joined."""

    code = "AssetLinkTreesTooLarge"

    def __init__(self, parent: AssetRef, child: AssetRef) -> None:
        super().__init__(
            f"{parent.asset_id} has more than {MAX_WALKED} ancestors and {child.asset_id} "
            f"more than {MAX_WALKED} descendants: such trees cannot be joined"
        )


class TooManyLinksError(StateForbidsError):
    """The asset has the maximum number of links."""

    code = "TooManyAssetLinks"

    def __init__(self, asset_id: str, kind: EdgeKind) -> None:
        super().__init__(
            f"Asset {asset_id} already has {MAX_LINKS} links of the type {kind}, which is the "
            "maximum"
        )


class FamilyTooLargeError(TooLargeError):
    """The tree below the asset is too large for one reply."""

    code = "AssetTreeTooLarge"

    def __init__(self, asset_id: str) -> None:
        super().__init__(
            f"The tree below asset {asset_id} has more than {MAX_TREE_NODES} assets, "
            f"{2 * MAX_TREE_NODES} links or {MAX_TREE_DEPTH} levels; request parts of the "
            "tree"
        )


class LinkNotFoundError(NotFoundError):
    code = "AssetLinkNotFound"

    def __init__(self, asset_link_id: str) -> None:
        super().__init__(f"Asset link {asset_link_id} does not exist")


class LinkExistsError(AlreadyExistsError):
    code = "AssetLinkExists"

    def __init__(self, source: AssetRef, target: AssetRef) -> None:
        super().__init__(
            f"Assets {source.asset_id} and {target.asset_id} are already linked like this; "
            "only parent-child links with different aliases can exist side by side"
        )


class LinkOvertakenError(ConflictError):
    """The link or the assets at its ends were changed by another request."""

    code = "AssetLinkOvertaken"

    def __init__(self) -> None:
        super().__init__("The links of these assets are being changed by other requests; try again")


class LinksBusyError(UnavailableError):
    """The links of the assets are being changed by other requests."""

    code = "AssetLinksBusy"

    def __init__(self) -> None:
        super().__init__(
            "The links around these assets are being changed by other requests; try again"
        )
