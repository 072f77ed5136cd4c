"""Creating and changing assets: what is written and refused, and edits at the same time."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import Action, Secured
from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.models import Asset, CreateAssetBody, UpdateAssetBody
from backend.domains.assets.repository import AssetRepository, row_of
from backend.domains.assets.routes import build_router
from backend.domains.assets.service.commands import AssetService
from backend.domains.buckets.errors import BucketNotFoundError
from backend.spec.tables.assets import ASSET_VERSIONS, ASSETS
from backend.spec.tables.operations import RESERVATIONS
from tests.factories.access import OnlyUser, stored_user_role
from tests.factories.administration import stored_role
from tests.factories.assets import ADMIN, NOON, asset_service, created_asset, created_database
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Client
from tests.factories.policies import everything, put_policy, stored
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.unit.domains.assets.calls import BODY, archive, create, listed, one


def test_a_created_asset_can_be_read(client: Client, service: AssetService, tables: Tables) -> None:
    created = create(client, tags=["red", "large"])
    assert (created.status, created.body["assetId"]) == (200, "statue")
    result = one(client)
    assert result.body == {
        "databaseId": "museum",
        "assetId": "statue",
        "assetName": "A statue",
        "description": "Made of marble",
        "isDistributable": True,
        "tags": ["red", "large"],
        "assetType": "none",
        "status": "active",
        "bucketId": BUCKET_ID,
        "bucketName": "assetbucket",
        "currentVersion": {
            "Version": "0",
            "DateModified": "2026-03-01T12:00:00.000000Z",
            "Comment": "The asset was created",
            "description": "Made of marble",
            "createdBy": "admin",
            "versionAlias": "",
        },
        "assetLocation": {"Key": "statue/"},
    }
    assert result.headers["ETag"] == '"1"' == created.headers["ETag"]
    key = {"databaseId:assetId": "museum:statue", "assetVersionId": "0"}
    version = tables.get(ASSET_VERSIONS, key)
    assert version is not None
    assert (version["isCurrentVersion"], version["createdBy"]) == (True, "admin")
    owner = {"databaseId": "museum", "assetId": "statue"}
    for name in ("AssetId#statue", f"Prefix#{BUCKET_ID}#statue/"):
        reservation = {"reservationKey": name}
        assert tables.get(RESERVATIONS, reservation) == reservation | owner
    assert service.databases.describe_database(ADMIN, "museum").asset_count == 1


def test_without_an_id_one_is_made(client: Client) -> None:
    asset_id = create(client, assetId=None).body["assetId"]
    assert (asset_id[0], len(asset_id)) == ("x", 37)
    assert one(client, asset_id).status == 200
    longest = "像" * 255  # of three-byte characters
    assert create(client, assetId=longest).status == 200
    assert one(client, longest).body["assetLocation"] == {"Key": f"{longest}/"}


def test_an_id_is_unique_over_all_databases_and_its_owner_is_not_reported(
    client: Client, service: AssetService, tables: Tables
) -> None:
    created_database(service, "archive-hall")
    create(client)
    again = create(client, databaseId="archive-hall")
    assert (again.status, again.body["code"]) == (409, "AssetIdTaken")
    assert "museum" not in again.body["message"]
    assert listed(client, "archive-hall") == []
    assert service.databases.describe_database(ADMIN, "archive-hall").asset_count == 0
    archive(tables, created_asset(service, "sold"))
    assert create(client, assetId="sold").status == 409


WRONG_FIELDS: list[tuple[str, object]] = [
    ("databaseId", "a#b"),
    ("databaseId", "GLOBAL"),
    ("databaseId", None),
    ("assetId", ""),
    ("assetId", "a#b"),
    ("assetId", "a:b"),
    ("assetId", "a/b"),
    ("assetId", "a\u0007b"),
    ("assetId", "x" * 256),
    ("assetId", "cafe\u0301"),
    ("assetId", ".."),
    ("assetId", "dot."),
    ("assetId", "previews"),
    ("assetId", "temp-uploads"),
    ("assetId", "\U00010400" * 255),
    ("assetId", 7),
    ("assetName", ""),
    ("assetName", "a/b"),
    ("assetName", "x" * 256),
    ("assetName", "tab\there"),
    ("description", "abc"),
    ("description", "x" * 257),
    ("description", None),
    ("isDistributable", "true"),
    ("isDistributable", 1),
    ("isDistributable", None),
    ("tags", "red"),
    ("tags", ["green"]),
    ("tags", ["red", "red"]),
    ("tags", [f"tag {number}" for number in range(51)]),
    ("tags.0", ["a:b"]),
    ("tags.1", ["red", 7]),
    ("bucketExistingKey", 7),
    ("bucketExistingKey", "/"),
    ("bucketExistingKey", "a//b"),
    ("bucketExistingKey", "a/../b"),
    ("bucketExistingKey", "previews/a"),
    ("bucketExistingKey", "a/" * 17),
    ("bucketExistingKey", f"{'x' * 200}/" * 5),
    ("bucketExistingKey", "nothing/is/here/"),
]


def test_a_wrong_field_is_refused_by_name(client: Client) -> None:
    for field, value in WRONG_FIELDS:
        answer = client.send("POST", "/assets", body={**BODY, field.split(".")[0]: value})
        assert answer.status == 400, (field, value, answer.body)
        assert [error["field"] for error in answer.body["errors"]] == [field], (field, value)
    assert listed(client) == []


def test_an_update_changes_only_what_it_names(client: Client, tables: Tables) -> None:
    create(client, tags=["red"])
    before = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    answer = one(client, method="PUT", body={"description": "Made of bronze"})
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "message": "Asset statue was changed",
        "assetId": "statue",
        "operation": "update",
        "timestamp": "2026-03-01T12:00:00.000000Z",
    }
    after = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert before is not None
    assert after == {**before, "description": "Made of bronze", "revision": 2}
    assert one(client).headers["ETag"] == '"2"' == answer.headers["ETag"]
    answer = one(client, method="PUT", body={"assetName": "A statue"})  # it is that already
    assert (answer.status, answer.headers["ETag"]) == (200, '"2"')


@pytest.mark.parametrize(
    ("body", "inherited"),
    [
        ({"assetName": "A bust"}, 2),
        ({"tags": ["blue"]}, 2),
        ({"tags": []}, 2),
        ({"tags": ["red"], "assetName": "A statue"}, 1),
        ({"isDistributable": False}, 1),
    ],
)
def test_files_inherit_a_changed_name_and_changed_tags_only(
    client: Client, tables: Tables, body: dict[str, object], inherited: int
) -> None:
    create(client, tags=["red"])
    assert one(client, method="PUT", body=body).status == 200
    row = tables.get(ASSETS, {"databaseId": "museum", "assetId": "statue"})
    assert row is not None
    assert row["inheritedRevision"] == inherited


@pytest.mark.parametrize("body", [{}, {"tags": ["green"]}, {"assetName": ""}, {"tags": [1]}])
def test_a_wrong_update_is_refused(client: Client, body: dict[str, object]) -> None:
    create(client)
    assert one(client, method="PUT", body=body).status == 400


class SeesNoTags(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.object_type != "tag"


def test_tags_that_the_caller_may_not_see_stay_and_no_others_come(
    client: Client, service: AssetService
) -> None:
    create(client, tags=["red", "large"])
    blind = replace(service, tags=replace(service.tags, authorization=SeesNoTags()))
    seen = Client(build_router(blind))
    assert one(seen, method="PUT", body={"tags": ["red"]}).status == 200
    refused = one(seen, method="PUT", body={"tags": ["red", "blue"]})
    assert (refused.status, refused.body["message"]) == (400, "tags: tag blue does not exist")
    refused = create(seen, assetId="bust", tags=["red"])
    assert refused.body["message"] == "tags: tag red does not exist"


def test_a_stale_if_match_is_refused(client: Client) -> None:
    create(client)
    first = {"if-match": '"1"'}
    assert one(client, method="PUT", body={"assetName": "two"}, headers=first).status == 200
    stale = one(client, method="PUT", body={"assetName": "three"}, headers=first)
    assert (stale.status, stale.body["code"]) == (412, "AssetRevisionConflict")
    assert one(client).body["assetName"] == "two"


@pytest.mark.parametrize(
    ("times", "headers", "status"), [(12, {}, 200), (100, {}, 412), (1, {"if-match": '"1"'}, 412)]
)
def test_edits_of_different_fields_at_the_same_time_both_survive(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
    headers: dict[str, str],
    status: int,
) -> None:
    create(client)
    overtake(monkeypatch, times=times)
    answer = one(client, method="PUT", body={"assetName": "mine"}, headers=headers)
    assert answer.status == status
    if status == 200:
        body = one(client).body
        assert (body["assetName"], body["description"]) == ("mine", "by another, 12 times")


def test_content_is_written_without_undoing_an_edit(service: AssetService, tables: Tables) -> None:
    seen = created_asset(service)
    admin = Identity("admin")
    service.update_asset(admin, "museum", "statue", UpdateAssetBody(asset_name="A bust"))
    service.set_content(seen, asset_type=".glb", preview_key="previews/statue/a.png")
    asset = service.get_asset(admin, "museum", "statue")
    assert (asset.asset_name, asset.asset_type, asset.revision) == ("A bust", ".glb", 3)
    assert asset.preview_location is not None
    assert asset.preview_location.key == "previews/statue/a.png"
    assert asset.inherited_revision == 3, "files carry the name and the type of their asset"
    cleared = service.set_content(asset, preview_key="")
    assert cleared.preview_location is None
    assert cleared.inherited_revision == 3
    archive(tables, seen)
    with pytest.raises(AssetNotFoundError):  # nor does it revive an archived asset
        service.set_content(seen, asset_type=".glb")
    assert AssetRepository(tables).get("museum", "statue") is None


def overtake(monkeypatch: pytest.MonkeyPatch, *, times: int) -> None:
    """Let another edit come between reading and writing, so many times."""
    change = AssetRepository.change
    turns = iter(range(1, times + 1))

    def overtaken(self: AssetRepository, asset: Asset, *changes: Any, **more: Any) -> Asset:
        turn = next(turns, None)
        if turn is not None:
            self.touch(asset, {"description": f"by another, {turn} times"})
        return change(self, asset, *changes, **more)

    monkeypatch.setattr(AssetRepository, "change", overtaken)


@pytest.mark.parametrize("blank", [" ", "  ", "\u00a0", "\u2007", "\u3000", " \u2009"])
def test_blanks_at_the_ends_of_a_name_are_removed(client: Client, blank: str) -> None:
    assert create(client, assetName=f"{blank}A{blank}statue{blank}").status == 200
    assert one(client).body["assetName"] == f"A{blank}statue"
    assert one(client, method="PUT", body={"assetName": f"{blank}bust{blank}"}).status == 200
    assert one(client).body["assetName"] == "bust"
    body = {"assetName": blank}
    for answer in (one(client, method="PUT", body=body), create(client, **body)):
        assert answer.status == 400
        assert [error["field"] for error in answer.body["errors"]] == ["assetName"]


def test_an_asset_whose_stored_name_ends_with_a_blank_can_be_read_and_changed(
    client: Client, service: AssetService, tables: Tables
) -> None:
    create(client)
    old = service.get_asset(Identity("admin"), "museum", "statue").model_copy(
        update={"asset_name": "A statue \u00a0"}
    )
    tables.write(Put(table=ASSETS, item=row_of(old)))
    assert one(client).body["assetName"] == "A statue \u00a0"
    assert one(client, method="PUT", body={"description": "of bronze"}).status == 200
    assert one(client).body["assetName"] == "A statue \u00a0"
    assert one(client, method="PUT", body={"assetName": "A statue \u00a0"}).status == 200
    assert one(client).body["assetName"] == "A statue"


ANN = Identity("ann")
OTHER = stored("bucket", ("bucketId", "equals", "another"))
DENIED = everything("bucket", effect="deny")


def services(*rules: dict[str, Any]) -> AssetService:
    """Assets over a bucket with one folder, for a user who may create any asset and has `rules`."""
    tables, objects = MemoryTables(), MemoryObjects()
    service = asset_service(tables, objects)
    created_database(service)
    objects.put("assetbucket", "scans/a.e57", b"x", content_type="text/plain", metadata={})
    stored_role(tables, "editor")
    stored_user_role(tables, user_id="ann", role_name="editor")
    put_policy(tables, "role#editor", everything("asset"), *rules)
    stored_rules = PolicyAuthorization(PolicyRepository(tables), lambda: NOON)
    buckets = replace(service.buckets, authorization=stored_rules)
    return replace(service, authorization=stored_rules, buckets=buckets)


def asset_body(*, key: str | None = None, asset_id: str | None = None) -> CreateAssetBody:
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
        services(*rules).create_asset(ANN, asset_body(key=key))


def test_a_right_to_the_bucket_adopts_a_folder_and_a_denial_hides_the_bucket() -> None:
    allowed = stored("bucket", ("bucketId", "equals", BUCKET_ID), actions=["POST"])
    made = services(allowed).create_asset(ANN, asset_body(key="scans"))
    assert made.asset_location.key == "scans/"
    with pytest.raises(BucketNotFoundError):
        services(everything("bucket"), DENIED).create_asset(ANN, asset_body(key="scans"))


def test_an_asset_with_a_folder_of_its_own_needs_no_right_to_the_bucket() -> None:
    assert services().create_asset(ANN, asset_body(asset_id="new")).asset_location.key == "new/"
    assert (
        services(DENIED).create_asset(ANN, asset_body(asset_id="new")).asset_location.key == "new/"
    )
