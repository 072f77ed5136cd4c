"""Lists of the caller's own at their largest, as `list_rows` has the other lists."""

from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.jobs.models import MAX_PROBLEMS
from backend.domains.jobs.repository import row_of
from backend.spec import routes
from backend.spec.jobs import ARCHIVE_ASSET
from backend.spec.routes import Route
from backend.spec.tables.assets import ASSET_UPLOADS
from backend.spec.tables.operations import JOBS
from tests.unit.domains.access.matrix.world import World
from tests.unit.large.list_rows import LETTERS, QUOTES, STATUE, Rows, make_statue, named, under


def make_job(world: World) -> str:
    make_statue(world)
    job = world.product.wiring.jobs.new(
        ARCHIVE_ASSET,
        "job-0000" + LETTERS,
        caller=Identity("admin"),
        database_id=STATUE["databaseId"],
        asset_id=STATUE["assetId"],
    )
    ended = job.model_copy(update={"problems": [QUOTES[:1000]] * MAX_PROBLEMS})
    world.tables.write(Put(table=JOBS, item=row_of(ended)))
    return "job-0000"


def make_upload(world: World) -> str:
    make_statue(world)
    files = [{"relativeKey": f"/{number}.txt", "file_size": 0} for number in range(200)]
    body = {**STATUE, "uploadType": "assetFile", "files": files}
    started = world.done(routes.INITIALISE_UPLOAD, body=body)["uploadId"]
    (row,) = [row for row in world.tables.rows(ASSET_UPLOADS) if row["uploadId"] == started]
    world.tables.delete_many(ASSET_UPLOADS, [{"uploadId": started, "assetId": row["assetId"]}])
    world.tables.write(Put(table=ASSET_UPLOADS, item={**row, "uploadId": "upload-0000"}))
    return "upload-0000"


OWN_LISTS: dict[Route, Rows] = {
    routes.LIST_JOBS: Rows(make_job, named("jobId"), 300, rows=under("items")),
    routes.LIST_UPLOADS: Rows(make_upload, named("uploadId"), 120, rows=under("items")),
}
