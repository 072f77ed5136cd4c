"""Histories that once ended wrong, as the state machine found them or a person thought of them."""

from collections.abc import Iterator

import pytest

from backend.entrypoints.wiring.assets import assets
from tests.model.lifecycle import Lifecycle


@pytest.fixture
def state() -> Iterator[Lifecycle]:
    """A deployment with its model; in the end both must be the same."""
    made = Lifecycle()
    made.begin(is_furnished=False)
    yield made
    made.teardown()


def renamed(state: Lifecycle, name: str) -> None:
    state.edit_asset(number=0, name=name, description=None, tags=None, is_distributable=True)


def test_the_files_of_an_asset_made_again_under_its_id_inherit_its_new_name(
    state: Lifecycle,
) -> None:
    for name in ("first", "second"):
        state.create_asset(database="museum", asset_id="pump", name=name, tags=[])
        state.upload(number=0, path="/a.glb", size=3)
        state.world.drain()
        renamed(state, f"{name} renamed")
        state.world.drain()
        if name == "first":
            state.delete(number=0, dies=None)
            state.world.drain()


def test_a_file_that_comes_while_others_come_back_makes_a_folder_with_them(
    state: Lifecycle,
) -> None:
    state.create_asset(database="museum", asset_id="wheel", name="first", tags=[])
    state.upload(number=0, path="/a.glb", size=3)
    state.archive(number=0, dies=None)
    state.world.drain()
    state.unarchive(number=0, dies=9)
    (job,) = state.running_jobs()  # the request dies when it has begun to bring the file back
    assert job.kind == "unarchiveAsset"
    state.upload(number=0, path="/c", size=3)
    state.world.drain()
    asset = assets(state.on).find_asset("museum", "wheel")
    assert asset is not None
    assert asset.asset_type == "folder"


def test_entries_of_all_assets_are_made_when_their_batch_meets_an_outage(state: Lifecycle) -> None:
    for asset_id in ("pump", "gear", "wheel"):
        state.create_asset(database="museum", asset_id=asset_id, name="first", tags=[])
    state.world.deliver(list(state.world.streams).index("AuditCreations"), size=3)
    for _ in range(2):
        state.fail(number=0)
