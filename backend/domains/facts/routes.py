"""The routes of facts."""

from backend.core.reads import Read, ReadAsset
from backend.domains.assets.models import AssetPath
from backend.domains.facts.models.replies import (
    DependenciesQuery,
    DependenciesReply,
    DependencyReply,
    DependentReply,
    DependentsQuery,
    DependentsReply,
    FileDependenciesReply,
    GlbQuery,
    GlbReply,
    SimilarFileReply,
    SimilarFilesReply,
    SimilarQuery,
)
from backend.domains.facts.service.glbs import GlbQueries
from backend.domains.facts.service.queries import FactQueries, SimilarFile
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes


def build_router(service: FactQueries, glbs: GlbQueries) -> Router:
    """Bind the routes of facts to the services."""
    router = Router()

    @router.bind(routes.LIST_DEPENDENCIES)
    def list_dependencies(
        call: Call, path: AssetPath, query: DependenciesQuery
    ) -> DependenciesReply:
        dependencies = service.list_dependencies(
            call.caller, path.ref, call.page(query), file_path=query.file_path
        )
        return DependenciesReply(
            items=[
                FileDependenciesReply(
                    file_path=item.path,
                    references=[
                        DependencyReply(
                            path=dependency.reference.path,
                            kind=dependency.reference.kind,
                            state=dependency.state,
                            file_path=dependency.path,
                            circular=is_circular,
                        )
                        for dependency, is_circular in item.references
                    ],
                    omitted=item.omitted,
                )
                for item in dependencies.items
            ],
            next_token=call.next_token(dependencies.after),
        )

    @router.bind(routes.LIST_DEPENDENTS)
    def list_dependents(call: Call, path: AssetPath, query: DependentsQuery) -> DependentsReply:
        page = call.page(query)
        wanted = query.file_path + "/" if query.is_prefix else query.file_path
        dependents = service.list_dependents(call.caller, path.ref, wanted, page)
        return DependentsReply(
            items=[DependentReply(file_path=path) for path in dependents.items],
            next_token=call.next_token(dependents.after),
        )

    @router.bind(routes.LIST_SIMILAR_FILES)
    def list_similar_files(call: Call, path: AssetPath, query: SimilarQuery) -> SimilarFilesReply:
        similar = service.similar_files(call.caller, path.ref, query.file_path, size=query.size)
        return SimilarFilesReply(items=[_similar(file) for file in similar])

    @router.bind(routes.GET_GLB)
    def get_glb(call: Call, path: AssetPath, query: GlbQuery) -> Reply[GlbReply]:
        glb = glbs.get_glb(call.caller, path.ref, query.key)
        read = Read((ReadAsset(*path.ref.ids, (glb.path,)),), urls=True)
        return Reply(glb.reply, read=None if glb.reply.glb is None else read)

    return router


def _similar(file: SimilarFile) -> SimilarFileReply:
    return SimilarFileReply(
        database_id=file.asset.database_id,
        asset_id=file.asset.asset_id,
        asset_name=file.asset.asset_name,
        file_path=file.path,
        similarity=file.similarity,
    )
