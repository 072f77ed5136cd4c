"""The routes of links between assets."""

from collections.abc import Iterable, Sequence

from backend.domains.asset_links.models import (
    MAX_TREE_DEPTH,
    MAX_TREE_NODES,
    CreateLinkBody,
    UpdateLinkBody,
)
from backend.domains.asset_links.models.replies import (
    AssetLinkReply,
    CreateLinkReply,
    LinkedAsset,
    LinkMetadataQuery,
    LinkPath,
    LinksQuery,
    LinksReply,
    MessageReply,
    RelationPath,
    SingleLinkReply,
    TreeNode,
    UnauthorizedCounts,
)
from backend.domains.asset_links.service.commands import AssetLinkService
from backend.domains.asset_links.service.metadata import LinkMetadataService
from backend.domains.asset_links.service.queries import Linked, LinkQueries, Tree
from backend.domains.assets.models import AssetPath
from backend.domains.metadata.models.replies import (
    AddAssetMetadataBody,
    BulkReply,
    ChangeAssetMetadataBody,
    MetadataReply,
    RemoveAssetMetadataBody,
)
from backend.domains.metadata.service.commands import bulk_reply, metadata_reply
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(
    service: AssetLinkService, reader: LinkQueries, metadata: LinkMetadataService
) -> Router:
    """Bind the routes of links to the services."""
    router = Router()
    _bind_writes(router, service)
    _bind_reads(router, service, reader)
    _bind_metadata(router, metadata)
    return router


def _bind_writes(router: Router, service: AssetLinkService) -> None:
    @router.bind(routes.CREATE_LINK)
    def create_link(call: Call, body: CreateLinkBody) -> CreateLinkReply:
        link = service.create_link(call.caller, body)
        message = f"Assets {link.from_asset_id} and {link.to_asset_id} were linked"
        return CreateLinkReply(asset_link_id=link.asset_link_id, message=message)

    @router.bind(routes.UPDATE_LINK)
    def update_link(call: Call, path: LinkPath, body: UpdateLinkBody) -> MessageReply:
        service.update_link(call.caller, path.asset_link_id, body)
        return MessageReply(message=f"Asset link {path.asset_link_id} was changed")

    @router.bind(routes.DELETE_LINK)
    def delete_link(call: Call, path: RelationPath) -> Reply[MessageReply]:
        link = service.delete_link(call.caller, path.relation_id)
        message = f"Asset link {path.relation_id} was deleted"
        return Reply(MessageReply(message=message), changed=link)


def _bind_reads(router: Router, service: AssetLinkService, reader: LinkQueries) -> None:
    @router.bind(routes.GET_LINK)
    def get_link(call: Call, path: LinkPath) -> SingleLinkReply:
        link = service.get_link(call.caller, path.asset_link_id)
        return SingleLinkReply(
            asset_link=AssetLinkReply.model_validate(link.model_dump()), message="Success"
        )

    @router.bind(routes.LIST_LINKS)
    def list_links(call: Call, path: AssetPath, query: LinksQuery) -> LinksReply:
        asset = service.assets.get_asset(call.caller, path.database_id, path.asset_id)
        neighbours = reader.neighbours(call.caller, asset)
        reply = LinksReply(
            related=_assets(neighbours["related"]),
            parents=_assets(neighbours["parent"]),
            children=list(_assets(neighbours["child"])),
            unauthorized_counts=UnauthorizedCounts(
                related=_count_hidden(neighbours["related"]),
                parents=_count_hidden(neighbours["parent"]),
                children=_count_hidden(neighbours["child"]),
            ),
            message="Success",
        )
        if query.child_tree_view:
            tree = reader.subtree(call.caller, asset)
            reply.children = list(_nodes(tree.children))
            reply.unauthorized_counts.children = _unseen_below(tree.children)
            if tree.truncated:
                reply.truncated = True
                reply.message = (
                    f"The reply contains at most {MAX_TREE_NODES} assets and "
                    f"{MAX_TREE_DEPTH} levels of the tree; there are more"
                )
        return reply


def _bind_metadata(router: Router, service: LinkMetadataService) -> None:
    @router.bind(routes.GET_LINK_METADATA)
    def list_asset_link_metadata(
        call: Call, path: LinkPath, query: LinkMetadataQuery
    ) -> MetadataReply:
        entity, page = service.list_metadata(call.caller, path.asset_link_id, call.page(query))
        is_restricted = service.records.is_restricted(entity)
        token = call.next_token(page.after)
        return metadata_reply(entity, page, token, is_restricted=is_restricted)

    @router.bind(routes.CREATE_LINK_METADATA)
    def create_asset_link_metadata(
        call: Call, path: LinkPath, body: AddAssetMetadataBody
    ) -> BulkReply:
        result = service.add_metadata(call.caller, path.asset_link_id, body.metadata)
        return bulk_reply(result, "added", at=service.now())

    @router.bind(routes.UPDATE_LINK_METADATA)
    def update_asset_link_metadata(
        call: Call, path: LinkPath, body: ChangeAssetMetadataBody
    ) -> BulkReply:
        result = service.change_metadata(
            call.caller, path.asset_link_id, body.metadata, update_type=body.update_type
        )
        return bulk_reply(result, "written", at=service.now())

    @router.bind(routes.DELETE_LINK_METADATA)
    def delete_asset_link_metadata(
        call: Call, path: LinkPath, body: RemoveAssetMetadataBody
    ) -> BulkReply:
        result = service.remove_metadata(call.caller, path.asset_link_id, body.metadata_keys)
        return bulk_reply(result, "removed", at=service.now())


def _assets(links: Iterable[Linked]) -> list[LinkedAsset]:
    return [
        LinkedAsset.model_validate(_linked_fields(link, link.asset.asset_name))
        for link in links
        if link.asset is not None
    ]


def _nodes(trees: Iterable[Tree]) -> list[TreeNode]:
    return [
        TreeNode.model_validate(
            {
                **_linked_fields(tree.linked, tree.linked.asset.asset_name),
                "children": _nodes(tree.children),
            }
        )
        for tree in trees
        if tree.linked.asset is not None
    ]


def _linked_fields(linked: Linked, asset_name: str) -> dict[str, object]:
    return {**linked.edge.model_dump(exclude={"kind"}), "asset_name": asset_name}


def _count_hidden(links: Sequence[Linked]) -> int:
    return sum(link.asset is None for link in links)


def _unseen_below(trees: Iterable[Tree]) -> int:
    return sum((tree.linked.asset is None) + _unseen_below(tree.children) for tree in trees)
