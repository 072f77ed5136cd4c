"""The rows of lists of an asset's objects, as in `rows`."""

from typing import Any

from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.facts.models import Inspection
from backend.domains.facts.rules import records_of
from backend.domains.jobs.models import MAX_PROBLEMS
from backend.domains.jobs.repository import row_of
from backend.domains.metadata.models import Entity
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.metadata import records
from backend.spec import routes
from backend.spec.jobs import ARCHIVE_ASSET
from backend.spec.tables.assets import ASSET_UPLOADS
from backend.spec.tables.operations import JOBS
from tests.factories.workflows import pipeline_body, workflow_body
from tests.routes.rows import LETTERS, QUOTES, STATUE, make_statue
from tests.unit.domains.access.matrix.world import World

FILE = "/file-0000" + LETTERS


def make_execution(world: World) -> str:
    make_statue(world)
    world.done(routes.PUT_PIPELINE, body=pipeline_body())
    world.done(routes.PUT_WORKFLOW, body=workflow_body("publish-museum"))
    path = {**STATUE, "workflowId": "publish-museum"}
    return world.done(routes.START_EXECUTION, path, {"workflowDatabaseId": "museum"})["message"]


def make_references(world: World) -> str:
    make_statue(world)
    references: list[dict[str, Any]] = [
        {"path": QUOTES[:number] + "x.png", "kind": "texture", "state": "missing"}
        for number in range(1, 1000)
    ]
    references.insert(0, {"path": "/used.png", "kind": "texture", "state": "found"})
    body = {"version": 1, "source": {"versionId": "v"}, "references": references}
    facts = records_of(Inspection.model_validate(body))
    entity = Entity("museum", "statue", FILE, "attribute")
    records(world.product.context).put_facts(entity, facts)
    return "file-0000"


def make_job(world: World) -> str:
    make_statue(world)
    job = jobs(world.product.context).new(
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
