"""Routes of assets, their links, versions, exports, comments and subscriptions."""

from collections.abc import Mapping
from typing import Any

from backend.spec import routes
from tests.routes import contents
from tests.routes.model import (
    IN_DATABASES,
    NO_ID,
    OF_ASSETS,
    OF_DATABASES,
    OF_NEW_ASSETS,
    Case,
    PathField,
    Request,
    Rows,
    Target,
    in_body,
    on_asset,
)
from tests.routes.needs import (
    allow_all,
    check_both_ends,
    check_database,
    check_new_asset,
    check_new_link,
)
from tests.routes.rows import (
    make_asset,
    make_comment,
    make_history,
    make_link_record,
    make_snapshots,
    make_subscription,
    make_versions,
    under,
)
from tests.unit.domains.access.matrix.seeding import ANN, EVENT, RECORD
from tests.unit.domains.access.matrix.states import DATABASES
from tests.unit.domains.access.matrix.world import Question

_ASSET = "asset:museum:statue"
_SUBSCRIPTION = "subscription:Asset:statue"
_ALSO_ARCHIVED = {"showArchived": "true"}


def described(target: Target) -> dict[str, Any]:
    """Return the body of a new asset: in its database, another, or none, or with the tag."""
    return {
        "databaseId": DATABASES.get(target.state, "museum"),
        "assetName": "A new one",
        "description": "Marble",
        "isDistributable": True,
        "tags": ["secret"] if target.state == "tagged" else [],
    }


def _shown(**parameters: str) -> Request:
    """Return a request for an asset, archived or not."""

    def request(target: Target) -> Question:
        query = _ALSO_ARCHIVED if target.state == "archived" else {}
        return Question({**target.asset, **parameters}, query)

    return request


def _all_assets(target: Target) -> Question:
    query = _ALSO_ARCHIVED if target.state == "archived" else {}
    return Question({}, query, shows=f"'{target.asset_id}'")


def _in_database(target: Target) -> Question:
    query = _ALSO_ARCHIVED if target.state == "archived" else {}
    return Question({"databaseId": target.database_id}, query)


def _new_link(target: Target) -> Any:
    """A link from an own asset to the one in the state."""
    database_id, asset_id = target.asset.values()
    return {
        "fromAssetDatabaseId": "museum",
        "fromAssetId": "statue-base",
        "toAssetDatabaseId": database_id,
        "toAssetId": asset_id,
        "relationshipType": "related" if asset_id == "statue" else "parentChild",
    }


def _link_id(target: Target) -> str:
    return target.world.links.get(target.state, NO_ID)


def _link_entity(target: Target) -> str:
    return f"assetLink:{_link_id(target)}"


def _on_link(body: Any = None, name: str = "assetLinkId") -> Request:
    return lambda target: Question({name: _link_id(target)}, body=body)


def _on_comments(parameters: Mapping[str, str] | None = None) -> Request:
    return lambda target: Question({"assetId": target.asset_id, **(parameters or {})})


def _on_comment(body: Any = None, comment: str = "") -> Request:
    """Return a request for a comment, by default for that of the user."""

    def request(target: Target) -> Question:
        name = comment or f"1:by-{target.user_id}"
        return Question({"assetId": target.asset_id, "assetVersionId:commentId": name}, body=body)

    return request


def _subscribing(*subscribers: str) -> Request:
    return in_body(
        lambda target: {**EVENT, "entityId": target.asset_id, "subscribers": [*subscribers]}
    )


CASES = (
    Case(routes.CREATE_ASSET, in_body(described), OF_NEW_ASSETS, audit="asset:museum:",
         paths=(PathField("bucketExistingKey", {"assetId": "other"}), PathField("assetId")),
         needs=check_new_asset),
    Case(routes.LIST_ALL_ASSETS, _all_assets, OF_ASSETS, rows=Rows(make_asset, "assetId", 600),
         sees_archived=True, needs=allow_all, content=contents.ALL_ASSETS),
    Case(routes.LIST_ASSETS, _in_database, OF_DATABASES, rows=Rows(make_asset, "assetId", 600),
         sees_archived=True, needs=check_database, content=contents.ASSETS_OF_DATABASE),
    Case(routes.GET_ASSET, _shown(), IN_DATABASES, sees_archived=True),
    Case(routes.UPDATE_ASSET, on_asset({"description": "Bronze"}), IN_DATABASES, _ASSET),
    Case(routes.ARCHIVE_ASSET, on_asset({"confirmArchive": True}), IN_DATABASES, _ASSET,
         sees_archived=True),
    Case(routes.UNARCHIVE_ASSET, on_asset({"confirmUnarchive": True}), IN_DATABASES,
         audit="asset:museum:relic", succeeds="archived", sees_archived=True),
    Case(routes.DELETE_ASSET, on_asset({"confirmPermanentDelete": True}), IN_DATABASES, _ASSET,
         sees_archived=True),
    Case(routes.LIST_ASSET_HISTORY, on_asset(), IN_DATABASES, rows=Rows(make_history,
         "historyRecordId", 1100), sees_archived=True),
    Case(routes.CREATE_ASSET_VERSION, on_asset({"comment": "as it is", "useLatestFiles": True}),
         IN_DATABASES, audit=_ASSET, paths=(PathField("relativeKey", {"useLatestFiles": False,
         "files": [{"versionId": "1", "isArchived": False}]},),)),
    Case(routes.LIST_ASSET_VERSIONS, _shown(), IN_DATABASES, rows=Rows(make_versions, "Version",
         1100, under("versions")), sees_archived=True),
    Case(routes.GET_ASSET_VERSION, on_asset(assetVersionId="1"), IN_DATABASES,
         rows=Rows(make_snapshots, "metadataKey", 40, under("versionedMetadata")),
         sees_archived=True),
    Case(routes.UPDATE_ASSET_VERSION, on_asset({"versionAlias": "opening"}, assetVersionId="1"),
         IN_DATABASES, audit=_ASSET),
    Case(routes.REVERT_ASSET_VERSION, on_asset({"comment": "back again"}, assetVersionId="1"),
         IN_DATABASES, audit=_ASSET),
    Case(routes.COMPARE_ASSET_VERSIONS, on_asset(query={"from": "1", "to": "2"}), IN_DATABASES,
         rows=Rows(make_snapshots, "metadataKey", 40, under("metadata", "removed")),
         sees_archived=True),
    Case(routes.ARCHIVE_ASSET_VERSION, on_asset(assetVersionId="1"), IN_DATABASES, _ASSET,
         sees_archived=True),
    Case(routes.UNARCHIVE_ASSET_VERSION, on_asset(assetVersionId="0"), IN_DATABASES, _ASSET,
         sees_archived=True),
    Case(routes.CREATE_LINK, in_body(_new_link), IN_DATABASES, audit="assetLink:",
         needs=check_new_link),
    Case(routes.GET_LINK, _on_link(), OF_ASSETS, sees_archived=True, needs=check_both_ends),
    Case(routes.LIST_LINKS, on_asset(), IN_DATABASES, content=contents.LINKS),
    Case(routes.UPDATE_LINK, _on_link({"tags": ["old"]}), OF_ASSETS, _link_entity,
         sees_archived=True, needs=check_both_ends),
    Case(routes.DELETE_LINK, _on_link(name="relationId"), OF_ASSETS, _link_entity,
         sees_archived=True, needs=check_both_ends),
    Case(routes.GET_LINK_METADATA, _on_link(), OF_ASSETS, rows=Rows(make_link_record, "metadataKey",
         40, under("metadata")), sees_archived=True, needs=check_both_ends),
    Case(routes.CREATE_LINK_METADATA, _on_link({"metadata": [{**RECORD, "metadataKey": "place"}]}),
         OF_ASSETS, audit=_link_entity, sees_archived=True, needs=check_both_ends),
    Case(routes.UPDATE_LINK_METADATA, _on_link({"metadata": [{**RECORD, "metadataValue": "1890"}]}),
         OF_ASSETS, audit=_link_entity, sees_archived=True, needs=check_both_ends),
    Case(routes.DELETE_LINK_METADATA, _on_link({"metadataKeys": ["year"]}), OF_ASSETS,
         audit=_link_entity, sees_archived=True, needs=check_both_ends),
    Case(routes.EXPORT_ASSETS, on_asset({}), IN_DATABASES, without_entry="reads",
         content=contents.EXPORT),
    Case(routes.LIST_COMMENTS, _on_comments(), OF_ASSETS, rows=Rows(make_comment,
         "assetVersionId:commentId", 500, under("message"))),
    Case(routes.LIST_VERSION_COMMENTS, _on_comments({"assetVersionId": "1"}), OF_ASSETS,
         rows=Rows(make_comment, "assetVersionId:commentId", 500, under("message"))),
    Case(routes.GET_COMMENT, _on_comment(), OF_ASSETS),
    Case(routes.CREATE_COMMENT, _on_comment({"commentBody": "Nicer"}, "1:a-new-one"), OF_ASSETS,
         audit=_ASSET),
    Case(routes.UPDATE_COMMENT, _on_comment({"commentBody": "Nicer"}), OF_ASSETS, _ASSET),
    Case(routes.DELETE_COMMENT, _on_comment(), OF_ASSETS, audit=_ASSET),
    Case(routes.LIST_SUBSCRIPTIONS, lambda target: Question({}, shows=f"'{target.asset_id}'"),
         OF_ASSETS, rows=Rows(make_subscription, "entityId", 120),
         needs=allow_all, content=contents.SUBSCRIPTIONS),
    Case(routes.CREATE_SUBSCRIPTION, _subscribing("bob@example.org"), OF_ASSETS, _SUBSCRIPTION),
    Case(routes.UPDATE_SUBSCRIPTION, _subscribing(ANN, "bob@example.org"), OF_ASSETS,
         audit=_SUBSCRIPTION),
    Case(routes.DELETE_SUBSCRIPTION, _subscribing(ANN), OF_ASSETS, audit=_SUBSCRIPTION),
    Case(routes.UNSUBSCRIBE, _subscribing(ANN), OF_ASSETS, audit=_SUBSCRIPTION, sees_archived=True),
    Case(routes.CHECK_SUBSCRIPTION, in_body(lambda target: {"userId": ANN,
         "assetId": target.asset_id}), OF_ASSETS, without_entry="reads"),
)  # fmt: skip
