"""An existing folder becomes an asset only by a right to its bucket, beside that to the asset."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.assets.models import CreateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.errors import BucketNotFoundError
from tests.factories.access import stored_user_role
from tests.factories.administration import stored_role
from tests.factories.assets import NOON, asset_service, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.policies import everything, put_policy, stored
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

ANN = Identity("ann")
OTHER = stored("bucket", ("bucketId", "equals", "another"))
DENIED = everything("bucket", effect="deny")


def services(*rules: dict[str, Any]) -> AssetService:
    """Assets over a bucket with one folder, for a user who may create any asset and has `rules`."""
    tables, objects = MemoryTables(), MemoryObjects()
    found = asset_service(tables, objects)
    created_database(found)
    objects.put("assetbucket", "scans/a.e57", b"x", content_type="text/plain", metadata={})
    stored_role(tables, "editor")
    stored_user_role(tables, user_id="ann", role_name="editor")
    put_policy(tables, "role#editor", everything("asset"), *rules)
    stored_rules = PolicyAuthorization(PolicyRepository(tables), lambda: NOON)
    buckets = replace(found.buckets, authorization=stored_rules)
    return replace(found, authorization=stored_rules, buckets=buckets)


def asset(*, key: str | None = None, asset_id: str | None = None) -> CreateAssetBody:
    return CreateAssetBody(
        database_id="museum",
        asset_name="Scans",
        description="Of the hall",
        is_distributable=True,
        bucket_existing_key=key,
        asset_id=asset_id,
    )


@pytest.mark.parametrize("key", ["scans", "/scans/", "nothing"])
@pytest.mark.parametrize(
    "rules",
    [(), (OTHER,), (everything("bucket", actions=["GET", "PUT", "DELETE"]),)],
    ids=["no rule", "another bucket", "other actions"],
)
def test_a_right_to_the_asset_adopts_no_folder(rules: tuple[Any, ...], key: str) -> None:
    with pytest.raises(PermissionDeniedError, match="POST this bucket"):
        services(*rules).create_asset(ANN, asset(key=key))


def test_a_denial_hides_the_bucket() -> None:
    with pytest.raises(BucketNotFoundError):
        services(everything("bucket"), DENIED).create_asset(ANN, asset(key="scans"))


def test_a_right_to_the_bucket_adopts_a_folder() -> None:
    allowed = stored("bucket", ("bucketId", "equals", BUCKET_ID), actions=["POST"])
    made = services(allowed).create_asset(ANN, asset(key="scans"))
    assert made.asset_location.key == "scans/"


def test_an_asset_with_a_folder_of_its_own_needs_no_right_to_the_bucket() -> None:
    assert services().create_asset(ANN, asset(asset_id="new")).asset_location.key == "new/"
    assert services(DENIED).create_asset(ANN, asset(asset_id="new")).asset_location.key == "new/"
