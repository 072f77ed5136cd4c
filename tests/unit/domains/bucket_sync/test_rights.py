"""The sync changes nothing in the bucket, and acts only as the product itself."""

import pytest

from backend.core.authorization import Secured
from backend.core.identity import SYSTEM, Identity
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.functions.workers import BUCKET_IMPORT_WORKER, BUCKET_SYNC
from tests.factories.bucket_sync import SyncWorld


@pytest.fixture
def world() -> SyncWorld:
    return SyncWorld()


def test_no_policy_lets_the_sync_write_to_the_bucket_or_read_an_object() -> None:
    for function in (BUCKET_SYNC, BUCKET_IMPORT_WORKER):
        assert function.uses[ASSET_BUCKET] == ("ListBucket",)


def test_only_the_product_itself_may_do_what_the_sync_does(world: SyncWorld) -> None:
    authorization = world.sync.authorization
    assert authorization.may(SYSTEM, "PUT", Secured("asset"))
    assert not authorization.may(Identity("admin"), "PUT", Secured("asset"))
