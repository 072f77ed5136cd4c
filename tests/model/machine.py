"""The state machine: users' requests to the product and the model, with an adversary in between.

Each history ends with everything delivered, and then indexes and tables must match the model in
every field. Hypothesis generates histories, and shortens those that fail.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from backend.core.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    VitrineError,
)
from backend.core.identity import Identity
from backend.domains.assets.models import CreateAssetBody, UpdateAssetBody
from backend.domains.databases.models import CreateDatabaseBody, UpdateDatabaseBody
from backend.domains.metadata.models import Entity, NewRecord
from backend.domains.tags.models import TagBody, TagTypeBody
from backend.domains.uploads.models import (
    CompleteBody,
    InitialiseBody,
    NewFile,
    SentFile,
    SentPart,
)
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.databases import databases
from backend.entrypoints.wiring.metadata import metadata
from backend.entrypoints.wiring.tags import tags
from backend.entrypoints.wiring.uploads import uploads
from tests.factories.buckets import BUCKET_ID
from tests.model.expected import differences, differing, documents
from tests.model.state import Model, ModelAsset, preview_base, type_of
from tests.model.values import KEYS, TEXTS, VALUES, Value
from tests.model.world import World

T = TypeVar("T")

ADMIN = Identity("admin")
DATABASES = ("museum", "depot")
ASSETS = ("pump", "wheel", "gear")
TAGS = ("red", "blue", "large")
PATHS = ("/a.glb", "/dir/b.stl", "/a.glb.previewFile.png", "/c")
NAMES = ("Beam Engine", "Räder 2", "mill")

numbers = st.integers(0, 7)
tag_lists = st.lists(st.sampled_from(TAGS), unique=True, max_size=3)
records = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), min_size=1, max_size=3)
texts = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(TEXTS), min_size=1, max_size=2)


class Adversary(RuleBasedStateMachine):
    """The actions of the adversary, at any moment."""

    world: World

    @rule(number=numbers, size=st.integers(1, 4), first=numbers, again=st.booleans())
    def deliver(self, number: int, size: int, first: int, again: bool) -> None:
        self.world.deliver(number, size=size, first=first, again=again)

    @precondition(lambda self: self.world.underway)
    @rule(number=numbers, steps=st.integers(1, 6))
    def advance(self, number: int, steps: int) -> None:
        self.world.advance(number, steps)

    @precondition(lambda self: self.world.underway)
    @rule(number=numbers)
    def finish(self, number: int) -> None:
        self.world.finish(number)

    @precondition(lambda self: self.world.underway)
    @rule(number=numbers)
    def kill(self, number: int) -> None:
        self.world.kill(number)

    @precondition(lambda self: self.world.underway)
    @rule(number=numbers)
    def fail(self, number: int) -> None:
        self.world.advance(number, 1, fails=True)

    @rule(seconds=st.sampled_from((1, 20, 61, 110)))
    def pass_time(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(number=numbers)
    def let_an_index_see(self, number: int) -> None:
        self.world.let_an_index_see(number)


class Product(Adversary):
    """Users' requests. Each is sent to the product and applied to the model."""

    def make_world(self) -> World:
        return World()

    @initialize(is_furnished=st.booleans())
    def begin(self, is_furnished: bool) -> None:
        """An empty deployment, or one with an asset that has a file."""
        self.world = self.make_world()
        self.on = self.world.on.services
        self.model = Model()
        kind = TagTypeBody(tag_type_name="look", description="How it looks", required="False")
        tags(self.on).create_tag_type(ADMIN, kind)
        for name in TAGS:
            self.create_tag(name)
        for name in DATABASES:
            self.create_database(name)
        if is_furnished:
            self.create_asset("museum", "pump", NAMES[0], ["red"])
            self.upload(0, PATHS[0], 3)
            self.world.drain()

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        try:
            if sys.exc_info()[0] is None:  # an earlier failure is reported unchanged
                self.everything_is_delivered_and_right()
        finally:
            self.world.close()

    def everything_is_delivered_and_right(self) -> None:
        self.before_the_end()
        self.world.drain()
        self.model.leaving.clear()
        self.check_types()
        wanted = documents(self.model, self.world.ports.objects, self.world.bucket)
        result = {
            name: {k: v for k, v in body.items() if k != "hash"}
            for name, body in self.world.documents().items()
        }
        wrong = [*differing(result, wanted), *differences(self.model, self.world.ports.tables)]
        assert not wrong, "\n".join(wrong)

    def check_types(self) -> None:
        """Update the expected type of each asset, now that all events are delivered.

        The files of an archived asset are not read: its type may be any that it had.
        """
        for asset in self.model.assets.values():
            if not asset.is_archived:
                shown = self.listed(asset) if asset.is_half_done else asset.current()
                asset.asset_type = type_of(shown)
                continue
            result = assets(self.on).find_asset(asset.database_id, asset.asset_id)
            assert result is not None
            assert result.asset_type in asset.types
            asset.asset_type = result.asset_type

    def before_a_tag(self, name: str) -> None:
        """Wait until no tag is being removed, so that a new tag is none of these."""

    def before_the_end(self) -> None:
        """Complete all jobs, as users do before the end."""

    # Databases and tags.

    def create_database(self, name: str) -> None:
        body = CreateDatabaseBody(
            database_id=name, description=f"The {name}", default_bucket_id=BUCKET_ID
        )
        taken = AlreadyExistsError if name in self.model.databases else None
        self.expect(taken, lambda: databases(self.on).create_database(ADMIN, body))
        if taken is None:
            self.model.databases[name] = body.description

    @precondition(lambda self: self.model.databases)
    @rule(number=numbers, description=st.sampled_from(NAMES))
    def edit_database(self, number: int, description: str) -> None:
        name = pick(sorted(self.model.databases), number)
        body = UpdateDatabaseBody(description=description + " rooms")
        databases(self.on).update_database(ADMIN, name, body)
        self.model.databases[name] = description + " rooms"

    @rule(name=st.sampled_from(TAGS))
    def create_tag(self, name: str) -> None:
        body = TagBody(tag_name=name, description=name, tag_type_name="look")
        self.before_a_tag(name)
        taken = AlreadyExistsError if name in self.model.tags else None
        self.expect(taken, lambda: tags(self.on).create_tag(ADMIN, body))
        self.model.tags.add(name)

    # Assets.

    @rule(
        database=st.sampled_from(DATABASES),
        asset_id=st.sampled_from(ASSETS),
        name=st.sampled_from(NAMES),
        tags=tag_lists,
    )
    def create_asset(self, database: str, asset_id: str, name: str, tags: list[str]) -> None:
        body = CreateAssetBody(
            database_id=database,
            asset_id=asset_id,
            asset_name=name,
            description="Made of steel",
            is_distributable=True,
            tags=tags,
        )
        error = self.refusal_to_create(database, asset_id, tags)
        self.expect(error, lambda: assets(self.on).create_asset(ADMIN, body))
        if error is None:
            self.model.made += 1
            self.model.assets[asset_id] = ModelAsset(
                database,
                asset_id,
                name,
                "Made of steel",
                True,
                tags,
                prefix=f"{asset_id}/",
                created_at=self.world.time.clock().isoformat(),
            )

    def refusal_to_create(
        self, database: str, asset_id: str, tags: list[str]
    ) -> type[VitrineError] | None:
        if database not in self.model.databases:
            return NotFoundError
        if not set(tags) <= self.model.tags:
            return InvalidInputError
        taken = asset_id in self.model.assets or asset_id in self.model.leaving
        return AlreadyExistsError if taken else None

    @precondition(lambda self: self.model.active())
    @rule(
        number=numbers,
        name=st.none() | st.sampled_from(NAMES),
        description=st.none() | st.sampled_from(NAMES),
        tags=st.none() | tag_lists,
        is_distributable=st.booleans(),
    )
    def edit_asset(
        self,
        number: int,
        name: str | None,
        description: str | None,
        tags: list[str] | None,
        is_distributable: bool,
    ) -> None:
        asset = self.pick_asset(number)
        body = UpdateAssetBody(
            asset_name=name,
            description=description,
            tags=tags,
            is_distributable=is_distributable,
        )
        error = InvalidInputError if not set(tags or ()) <= self.model.tags else None
        self.expect(
            error,
            lambda: assets(self.on).update_asset(ADMIN, asset.database_id, asset.asset_id, body),
        )
        if error is None:
            asset.name = name or asset.name
            asset.description = description or asset.description
            asset.is_distributable = is_distributable
            asset.tags = asset.tags if tags is None else tags

    @precondition(lambda self: self.model.active())
    @rule(number=numbers, path=st.sampled_from(PATHS), size=st.integers(0, 40))
    def upload(self, number: int, path: str, size: int) -> None:
        asset = self.pick_asset(number)
        base = preview_base(path)
        if base is not None and not self.is_there(asset, base):
            return
        database_id, asset_id = asset.database_id, asset.asset_id
        begun = uploads(self.on).initialise_upload(
            ADMIN,
            InitialiseBody(
                database_id=database_id,
                asset_id=asset_id,
                upload_type="assetFile",
                files=[NewFile(relative_key=path, file_size=size)],
            ),
        )
        (file,) = begun.files
        parts = [
            SentPart(
                part_number=url.part_number,
                etag=self.world.send(url.upload_url, b"x" * size).strip('"'),
            )
            for url in file.part_upload_urls
        ]
        sent = SentFile(relative_key=path, upload_id_s3=file.upload_id_s3, parts=parts)
        body = CompleteBody(
            database_id=database_id, asset_id=asset_id, upload_type="assetFile", files=[sent]
        )
        done = uploads(self.on).complete_upload(ADMIN, begun.upload_id, body)
        assert done.reply.overall_success, done
        asset.upload(path, size, among=self.listed(asset))

    # Metadata and attributes.

    @precondition(lambda self: self.model.active())
    @rule(number=numbers, path=numbers, wanted=records, everything=st.booleans())
    def set_metadata(
        self, number: int, path: int, wanted: dict[str, Value], everything: bool
    ) -> None:
        asset = self.pick_asset(number)
        entity = self._entity(asset, pick(["/", *sorted(self.listed(asset))], path))
        self._set(asset, entity, wanted, everything=everything)

    @precondition(lambda self: any(self.listed(asset) for asset in self.model.active()))
    @rule(number=numbers, path=numbers, wanted=texts)
    def set_attributes(self, number: int, path: int, wanted: dict[str, Value]) -> None:
        asset = pick([item for item in self.model.active() if self.listed(item)], number)
        place = pick(sorted(self.listed(asset)), path)
        entity = Entity(asset.database_id, asset.asset_id, place, "attribute")
        self._set(asset, entity, wanted, everything=False)

    def _set(
        self, asset: ModelAsset, entity: Entity, wanted: dict[str, Value], *, everything: bool
    ) -> None:
        sent = [
            NewRecord(metadata_key=key, metadata_value_type=v.value_type, metadata_value=v.text)
            for key, v in wanted.items()
        ]
        stored = asset.of(entity.kind, entity.path)
        if everything:
            stored.clear()  # also records that an index does not contain yet
        kind = "replace_all" if everything else "update"
        metadata(self.on).change_metadata(ADMIN, entity, sent, update_type=kind)
        stored.update(wanted)

    @precondition(lambda self: self.model.active())
    @rule(number=numbers, path=numbers, wanted=records)
    def add_metadata(self, number: int, path: int, wanted: dict[str, Value]) -> None:
        asset = self.pick_asset(number)
        entity = self._entity(asset, pick(["/", *sorted(self.listed(asset))], path))
        sent = [
            NewRecord(metadata_key=key, metadata_value_type=v.value_type, metadata_value=v.text)
            for key, v in wanted.items()
        ]
        stored = asset.of("metadata", entity.path)
        done = metadata(self.on).add_metadata(ADMIN, entity, sent)
        assert set(done.done) == wanted.keys() - stored.keys()
        stored.update({key: wanted[key] for key in done.done})

    @precondition(lambda self: self.model.active())
    @rule(number=numbers, path=st.sampled_from(("/", *PATHS)), keys=st.sets(st.sampled_from(KEYS)))
    def remove_metadata(self, number: int, path: str, keys: set[str]) -> None:
        asset = self.pick_asset(number)
        stored = asset.of("metadata", path)
        entity = self._entity(asset, path)
        done = metadata(self.on).remove_metadata(ADMIN, entity, sorted(keys))
        assert set(done.done) == keys & stored.keys()
        for key in done.done:
            del stored[key]

    def listed(self, asset: ModelAsset) -> set[str]:
        """The paths in the bucket now, without those that a running job has still to restore."""
        objects = self.world.ports.objects.list_objects(self.world.bucket, asset.prefix).objects
        return {"/" + item.key.removeprefix(asset.prefix) for item in objects}

    def is_there(self, asset: ModelAsset, path: str) -> bool:
        return path in self.listed(asset)

    def pick_asset(self, number: int) -> ModelAsset:
        return pick(self.model.active(), number)

    def expect(self, error: type[VitrineError] | None, call: Callable[[], object]) -> None:
        """The call succeeds, or is refused with this error."""
        if error is None:
            call()
            return
        with pytest.raises(error):
            call()

    def _entity(self, asset: ModelAsset, path: str) -> Entity:
        return Entity(asset.database_id, asset.asset_id, path)


def pick(choices: Sequence[T], number: int) -> T:
    return choices[number % len(choices)]
