"""A deleted tag leaves the assets that carry it: by a job, page by page, once and for all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.tables import Query, Tables
from backend.core.transactions import Update
from backend.domains.assets.errors import AssetRevisionError
from backend.domains.assets.models import Asset, UpdateAssetBody
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.jobs import TagWithdrawal
from backend.domains.audit.models import audit_entity
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.domains.tags.models import TagBody, TagTypeBody
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import AUDIT
from tests.factories.assets import ADMIN, NOON, asset_service, created_asset, created_database

SETTLE = 900


@dataclass
class World:
    """Assets in two databases, their tags, and the worker of the job."""

    tables: Tables
    objects: S3Objects
    now: datetime = NOON
    service: AssetService = field(init=False)

    def __post_init__(self) -> None:
        self.service = asset_service(self.tables, self.objects, clock=lambda: self.now)
        for database_id in ("museum", "annex"):
            created_database(self.service, database_id)

    @property
    def step(self) -> TagWithdrawal:
        return TagWithdrawal(
            assets=AssetRepository(self.tables),
            databases=self.service.databases,
            tags=self.service.tags,
            audit=self.service.audit,
            clock=lambda: self.now,
            settle_delay_seconds=SETTLE,
        )

    def run(self, job: Job, *, seconds: int = 60, step: TagWithdrawal | None = None) -> Job | None:
        runner = JobRunner(JobRepository(self.tables), lambda: self.now)
        until = self.now + timedelta(seconds=seconds)
        return runner.run(job.job_id, step or self.step, until=until)

    def overtaken_step(self, other: Callable[[], object]) -> TagWithdrawal:
        """A step whose first change is overtaken by another one."""

        class Overtaken(AssetRepository):
            def change(self, asset: Asset, *rest: object, **more: object) -> Asset:
                other()
                raise AssetRevisionError(asset.asset_id)

        step = self.step
        object.__setattr__(step, "assets", Overtaken(self.tables))
        return step

    def both_walks(self, job: Job) -> Job:
        self.run(job)
        self.now += timedelta(seconds=SETTLE)
        done = self.run(job)
        assert done is not None
        return done

    def asset(self, asset_id: str, database_id: str = "museum") -> Asset:
        return self.service.get_asset(ADMIN, database_id, asset_id, show_archived=True)

    def archive(self, asset: Asset) -> None:
        archived = asset.model_copy(update={"status": "archived"})
        self.tables.transact(self.service.move_writes(ADMIN, asset, archived))


@pytest.fixture
def world(tables: Tables, objects: S3Objects) -> World:
    return World(tables, objects)


def test_a_deleted_tag_leaves_the_assets_of_all_databases(world: World) -> None:
    created_asset(world.service, "statue", tags=("red", "large"))
    created_asset(world.service, "vase", database_id="annex", tags=("red",))
    created_asset(world.service, "coin", tags=("blue",))
    world.archive(created_asset(world.service, "sold", tags=("red",)))
    before = world.asset("statue")
    done = world.both_walks(world.service.tags.delete_tag(ADMIN, "red"))
    assert (done.state, done.items_done, done.problems) == ("done", 3, [])
    assert world.asset("vase", "annex").tags == []
    assert (world.asset("sold").tags, world.asset("sold").is_archived) == ([], True)
    coin, after = world.asset("coin"), world.asset("statue")
    assert (coin.tags, coin.revision, after.tags) == (["blue"], 1, ["large"])
    assert after.inherited_revision == before.inherited_revision + 1
    assert after.revision == before.revision + 1
    entity = audit_entity("asset", "museum", "statue")
    entries = world.tables.query_all(Query(table=AUDIT, partition=entity, consistent=True))
    assert [(entry["operation"], entry["userId"]) for entry in entries] == [("delete_tag", "admin")]


def test_a_tag_leaves_the_assets_that_have_no_other_of_its_name(world: World) -> None:
    tags = world.service.tags
    era = TagTypeBody(tag_type_name="era", description="When", database_id="museum")
    tags.create_tag_type(ADMIN, era)
    for name in ("roman", "greek"):
        body = TagBody(tag_name=name, description=name, tag_type_name="era", database_id="museum")
        tags.create_tag(ADMIN, body)
    created_asset(world.service, "statue", tags=("roman", "greek"))
    everywhere = TagBody(tag_name="roman", description="Roman", tag_type_name="look")
    tags.create_tag(ADMIN, everywhere)
    created_asset(world.service, "vase", database_id="annex", tags=("roman",))
    assert world.both_walks(tags.delete_tag(ADMIN, "greek", "museum")).items_done == 1
    assert world.both_walks(tags.delete_tag(ADMIN, "roman")).items_done == 1
    assert (world.asset("statue").tags, world.asset("vase", "annex").tags) == (["roman"], [])
    tags.create_tag(ADMIN, everywhere)
    done = world.both_walks(tags.delete_tag(ADMIN, "roman", "museum"))
    assert done.problems == ["Tag roman exists, or was created again, so assets keep it"]
    assert world.asset("statue").tags == ["roman"]


def test_pages_are_walked_one_a_step(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.domains.assets.service.jobs.PAGE", 2)
    for number in range(5):
        created_asset(world.service, f"asset-{number}", tags=("red",))
    job = world.service.tags.delete_tag(ADMIN, "red")
    while True:
        now = world.run(job, seconds=0)
        assert now is not None
        if now.lease_until:
            break
    assert now.items_done == 5
    assert all(world.asset(f"asset-{number}").tags == [] for number in range(5))


def test_an_asset_that_got_the_tag_from_a_request_in_progress_is_found_by_the_second_walk(
    world: World,
) -> None:
    created_asset(world.service)
    job = world.service.tags.delete_tag(ADMIN, "red")
    waiting = world.run(job)
    assert waiting is not None
    assert waiting.state == "running"
    late = Update(
        table=ASSETS,
        key={"databaseId": "museum", "assetId": "statue"},
        set={"tags": ["red"]},
        add={"revision": 1, "inheritedRevision": 1},
    )
    world.tables.write(late)
    assert world.run(job) is None
    world.now += timedelta(seconds=SETTLE)
    done = world.run(job)
    assert done is not None
    assert (done.state, done.items_done) == ("done", 1)
    assert world.asset("statue").tags == []


def test_an_edit_at_the_same_time_survives(world: World) -> None:
    created_asset(world.service, tags=("red",))
    job = world.service.tags.delete_tag(ADMIN, "red")

    def edit() -> None:
        object.__setattr__(step, "assets", AssetRepository(world.tables))
        body = UpdateAssetBody(description="Of bronze")
        world.service.update_asset(ADMIN, "museum", "statue", body)

    step = world.overtaken_step(edit)
    world.run(job, step=step)
    after = world.asset("statue")
    assert (after.description, after.tags) == ("Of bronze", [])


def test_an_asset_that_is_changed_all_the_time_is_come_back_to(world: World) -> None:
    created_asset(world.service, tags=("red",))
    job = world.service.tags.delete_tag(ADMIN, "red")
    with pytest.raises(UnavailableError, match="statue is being changed by other requests"):
        world.run(job, step=world.overtaken_step(lambda: None))
    assert world.both_walks(job).items_done == 1


def test_assets_keep_a_tag_that_is_created_again_during_its_deletion(world: World) -> None:
    created_asset(world.service, tags=("red",))
    job = world.service.tags.delete_tag(ADMIN, "red")
    again = TagBody(tag_name="red", description="again", tag_type_name="look")
    world.service.tags.create_tag(ADMIN, again)
    done = world.run(job)
    assert done is not None
    assert (done.state, done.items_done) == ("done", 0)
    assert done.problems == ["Tag red exists, or was created again, so assets keep it"]
    assert world.asset("statue").tags == ["red"]


def test_an_asset_that_is_deleted_meanwhile_is_passed_over(world: World) -> None:
    asset = created_asset(world.service, tags=("red",))
    job = world.service.tags.delete_tag(ADMIN, "red")
    removal = world.service.removal_writes(ADMIN, asset, "deleteAsset.x", at=NOON)
    waiting = world.run(job, step=world.overtaken_step(lambda: world.tables.transact(removal)))
    assert waiting is not None
    assert waiting.items_done == 0
    assert AssetRepository(world.tables).get("museum", asset.asset_id, in_archive=True) is None
