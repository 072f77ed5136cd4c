"""Nothing of a purged database is left but what it was, in the audit trail."""

from unittest.mock import patch

import pytest

from backend.core.transactions import Item, Put, Update
from backend.domains.asset_lifecycle.models import MAX_SWEEPS
from backend.domains.database_purges import rules
from backend.domains.database_purges.service.jobs import ASSETS
from backend.domains.databases.errors import PurgeEndedError
from backend.domains.jobs.models import Job
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.jobs import jobs
from backend.entrypoints.wiring.lifecycle_steps import purge_steps
from backend.spec import routes
from backend.spec.jobs import DELETE_ASSET, PURGE_DATABASE
from backend.spec.tables import metadata
from backend.spec.tables.operations import JOBS
from tests.factories.assets import ADMIN
from tests.unit.domains.database_purges.world import RECORD, World

OF_MUSEUM = ("museum", "statue", "idol")
OF_GALLERY = ("gallery", "painting")


@pytest.fixture
def museum(world: World) -> World:
    """A deleted database with two archived assets, and a neighbour that is linked to one."""
    world.fill("museum", "statue", "idol")
    world.fill("gallery", "painting")
    world.link(("museum", "statue"), ("museum", "idol"))
    world.link(("museum", "statue"), ("gallery", "painting"))
    world.archive("museum", "statue", "idol")
    world.delete()
    return world


def left(world: World) -> dict[str, list[Item]]:
    """Return rows of the museum, except the audit trail, its name and what expires by itself.

    The name says that a database of the id was deleted. What expires is the job of the purge, and
    the counter of an asset's versions: a late worker may hold one of its numbers.
    """
    rest = {
        name: [row for row in rows if not _stays(row)]
        for name, rows in world.left(*OF_MUSEUM).items()
        if name not in {"Audit", "AssetHistoryStorageTable"}
    }
    return {name: rows for name, rows in rest.items() if rows}


def _stays(row: Item) -> bool:
    if row.get("reservationKey") == "DeletedName#databaseId#museum":
        return True
    is_counter = str(row.get("reservationKey")).startswith("Versions#")
    return "expiresAt" in row and (is_counter or row.get("kind") == PURGE_DATABASE.name)


def neighbours(world: World) -> dict[str, list[Item]]:
    """Rows of the gallery alone, without the painting's head of links, which has changed."""
    result = {
        name: [row for row in rows if not any(word in str(row) for word in OF_MUSEUM)]
        for name, rows in world.left(*OF_GALLERY).items()
        if name not in {"Audit", "AssetLinkEdges", "AssetStorageTable"}
    }
    return {name: rows for name, rows in result.items() if rows}


def purge_job(world: World) -> Job:
    return next(job for job in world.jobs().values() if job.kind == PURGE_DATABASE.name)


def test_nothing_of_a_purged_database_is_left_but_audit(museum: World) -> None:
    before, files = neighbours(museum), museum.stored("painting")
    tables_with_rows = set(left(museum))
    assert {"MetadataSchemaScopes", "MetadataSchemaStorageTableV2"} <= tables_with_rows
    assert {"DatabaseMetadataStorageTableV2", "AssetLinksStorageTableV2"} <= tables_with_rows
    museum.purge()
    museum.work_off()
    job = purge_job(museum)
    assert (job.state, job.problems) == ("done", [])
    assert left(museum) == {}
    assert museum.stored(*OF_MUSEUM[1:]) == []
    assert neighbours(museum) == before
    assert museum.stored("painting") == files
    links = museum.product.send(
        routes.LIST_LINKS, parameters={"databaseId": "gallery", "assetId": "painting"}
    )
    assert "statue" not in str(links.body)
    entries = [e for e in museum.product.entries if e["operation"] == "delete_asset"]
    assert {e["entity"] for e in entries} == {"asset:museum:statue", "asset:museum:idol"}
    for entry in entries:
        assert entry["userId"] == "admin"
        assert entry["changes"]["deletedReason"] == {"after": "Database museum is purged"}


def test_a_worker_that_dies_at_any_write_is_followed_by_one_that_finishes(world: World) -> None:
    """The worker of the purge; deletions of assets have such a test of their own."""
    world.fill("museum", "statue")
    world.archive("museum", "statue")
    world.delete()
    world.purge()
    restore = world.saved()
    world.count_writes()
    world.work_off()
    everything = world.writes
    assert everything > 30
    for number in range(1, everything + 1):
        restore()
        world.count_writes(dies_at=number)
        world.work_off()
        assert world.dies_at is None, f"nobody died at write {number}"
        assert purge_job(world).state == "done", number
        assert left(world) == {}, number
        assert world.stored("statue") == [], number
    assert world.create().status == 200


def test_a_database_of_more_assets_than_a_step_takes_is_purged(world: World) -> None:
    assert world.create().status == 200
    names = [f"statue-{number}" for number in range(2 * ASSETS + 1)]
    for name in names:
        made = {"databaseId": "museum", "assetId": name, "assetName": name}
        world.done(
            routes.CREATE_ASSET,
            body={**made, "description": "Marble", "isDistributable": True, "tags": []},
        )
    world.archive("museum", *names)
    world.delete()
    world.purge()
    world.work_off()
    assert left(world) == {}
    assert purge_job(world).items_done >= len(names)


def test_a_user_who_deletes_an_asset_meanwhile_is_not_in_the_way(museum: World) -> None:
    museum.purge()
    path = {"databaseId": "museum", "assetId": "idol"}
    museum.done(routes.DELETE_ASSET, path, {"confirmPermanentDelete": True})
    museum.work_off()
    assert left(museum) == {}


def test_an_asset_that_is_changed_just_before_its_deletion_is_deleted(museum: World) -> None:
    museum.purge()
    service = assets(museum.product.context)
    idol = service.find_asset("museum", "idol")
    assert idol is not None
    times = [0]

    def change(operation: str) -> None:
        times[0] += 1
        if operation == "write" and times[0] < 40:
            museum.tables.before = lambda operation: None
            service.assets.change(idol, {"updatedAt": "2026-03-02T12:00:00.000000Z"})

    museum.tables.before = change
    museum.work_off()
    assert left(museum) == {}


def test_the_purge_waits_for_jobs_that_have_not_ended(museum: World) -> None:
    museum.purge()
    stuck = next(job for job in museum.jobs().values() if job.kind == "archiveAsset")
    lease = int(museum.product.now.timestamp() * 1000) + 10**9
    held = {"state": "running", "leaseUntil": lease}
    museum.tables.write(Update(table=JOBS, key={"jobId": stuck.job_id}, set=held))
    for _ in range(MAX_SWEEPS + 5):
        museum.work()
    assert purge_job(museum).state == "running"
    assert museum.create().status == 409
    ended = {"state": "cancelled", "leaseUntil": 0}
    museum.tables.write(Update(table=JOBS, key={"jobId": stuck.job_id}, set=ended))
    museum.work_off()
    assert left(museum) == {}


def test_a_deletion_that_has_failed_fails_the_purge_until_both_are_resumed(museum: World) -> None:
    museum.purge()
    with patch.object(type(museum.objects), "delete_many"):  # replies as if all were gone
        museum.work_off()
    failed = [job for job in museum.jobs().values() if job.kind == DELETE_ASSET.name]
    assert {job.state for job in failed} == {"failed"}
    purge = purge_job(museum)
    assert purge.state == "failed"
    assert "has failed: resume that job first, then the purge" in purge.problems[-1]
    assert any(job.job_id in purge.problems[-1] for job in failed)
    assert museum.create().status == 409
    for job in (*failed, purge):
        jobs(museum.product.context).resume_job(ADMIN, job.job_id)
    museum.work_off()
    assert left(museum) == {}
    assert museum.create().status == 200


@pytest.mark.parametrize("assets", [(), ("statue",)])
def test_what_is_written_late_is_removed_by_a_further_sweep(
    world: World, assets: tuple[str, ...]
) -> None:
    """Also where the first sweep has found nothing at all."""
    if assets:
        world.fill("museum", *assets)
        world.archive("museum", *assets)
    else:
        assert world.create().status == 200
    world.delete()
    world.purge()
    while "sweep" not in purge_job(world).cursor or purge_job(world).cursor["sweep"] == 0:
        assert not purge_job(world).is_finished
        world.work()
    late = {"databaseId": "museum", **RECORD}
    world.tables.write(Put(table=metadata.DATABASE_METADATA, item=late))
    scope = rules.scope_keys("museum")[0]
    world.tables.write(Put(table=metadata.SCHEMA_SCOPES, item={**scope, "revision": 1}))
    world.work_off()
    assert left(world) == {}


def test_a_last_step_that_is_repeated_leaves_the_next_database_of_the_id_alone(
    museum: World,
) -> None:
    """By a worker that died before the end was noted, or that has slept since."""
    museum.purge()
    steps: list[Job] = []
    while not purge_job(museum).is_finished:
        steps.append(purge_job(museum))
        museum.work()
    museum.fill("museum", "bust")
    museum.archive("museum", "bust")
    museum.delete()
    museum.purge()
    before = museum.left("museum")
    purge = purge_steps(museum.product.context)[PURGE_DATABASE.name]
    for job in steps:
        assert purge(job).finished
    assert museum.left("museum") == before


@pytest.mark.parametrize("part", ["jobs", "rows"])
def test_a_worker_that_sleeps_within_a_step_removes_nothing_of_the_next_database(
    museum: World, part: str
) -> None:
    """After it has looked whether it holds the id, the purge ends and the id is taken again."""
    museum.purge()
    purge = purge_steps(museum.product.context)[PURGE_DATABASE.name]
    wanted = {"jobs": 1, "rows": 2}[part]
    while purge_job(museum).cursor.get("part") != wanted:
        museum.work()
    late, result = purge_job(museum), list[dict[str, list[Item]]]()

    def sleep() -> None:
        museum.work_off()
        museum.fill("museum", "bust")
        museum.archive("museum", "bust")
        result.append(museum.left("museum"))

    museum.at_the_first("query", sleep)
    with pytest.raises(PurgeEndedError):
        purge(late)
    assert museum.left("museum") == result[0]
