"""Tags and tag types of one database, beside those of GLOBAL."""

from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import Action, Secured
from backend.core.errors import InvalidInputError, PermissionDeniedError
from backend.core.identity import Identity
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.errors import DatabaseDefinitionsError
from backend.domains.tags.routes import build_router
from backend.spec.tables.registry import DATABASE_TAG_TYPES, TAG_TYPES, TAGS
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, asset_service, created_asset, created_database
from tests.factories.http import Client, Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

OWN = {"databaseId": "museum"}
ERA = {"tagTypeName": "era", "description": "When it was made"}
ROMAN = {"tagName": "roman", "description": "Until 476", "tagTypeName": "era"}
NEW = {**ROMAN, "tagName": "new"}


class Tags:
    """The routes of tags, with the databases `museum` and `annex`, and tags of GLOBAL."""

    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.assets: AssetService = asset_service(self.tables, MemoryObjects())
        for database_id in ("museum", "annex"):
            created_database(self.assets, database_id)
        self.client = Client(build_router(self.assets.tags))

    def write(self, path: str, *bodies: dict[str, Any], method: str = "POST") -> Response:
        for body in bodies[:-1]:
            assert self.client.send(method, path, body=body).status == 200
        return self.client.send(method, path, body=bodies[-1])

    def own(self, **changes: Any) -> None:
        """Create a type and a tag of the museum."""
        assert self.write("/tag-types", {**ERA, **OWN, **changes}).status == 200
        assert self.write("/tags", {**ROMAN, **OWN}).status == 200

    def delete(self, path: str, name: str, **query: str) -> Response:
        parameter = "tagId" if path == "/tags" else "tagTypeId"
        return self.client.send(
            "DELETE", f"{path}/{name}", parameters={parameter: name}, query=query
        )

    def listed(self, path: str = "/tags", **query: str) -> list[str]:
        field = "tagName" if path == "/tags" else "tagTypeName"
        items = self.client.send("GET", path, query=query).body["Items"]
        return sorted(f"{item['databaseId']}:{item[field]}" for item in items)

    def blind(self) -> "Tags":
        """Return the routes for a caller who may see all tags, but not the museum."""
        rules = MuseumHidden()
        databases = replace(self.assets.databases, authorization=rules)
        service = replace(self.assets.tags, databases=databases, authorization=rules)
        other = Tags()
        other.assets, other.client = (
            replace(self.assets, tags=service),
            Client(build_router(service)),
        )
        return other


class MuseumHidden(OnlyUser):
    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        hidden = target.object_type == "database" and target.fields["databaseId"] == "museum"
        return not hidden and super().may(caller, action, target)


@pytest.fixture
def tags() -> Tags:
    return Tags()


def test_lists_are_of_all_scopes_or_of_one(tags: Tags) -> None:
    tags.own()
    every = ["GLOBAL:blue", "GLOBAL:large", "GLOBAL:red"]
    assert tags.listed() == tags.listed(scope="all") == [*every, "museum:roman"]
    assert tags.listed(scope="global") == tags.listed(databaseId="GLOBAL") == every
    assert tags.listed(databaseId="museum") == ["museum:roman"]
    assert tags.listed(databaseId="museum", scope="global") == tags.listed(databaseId="annex") == []
    assert tags.listed("/tag-types") == ["GLOBAL:look", "museum:era"]
    assert tags.listed("/tag-types", databaseId="museum") == ["museum:era"]
    for path, field, count in (("/tags", "tagName", 4), ("/tag-types", "tagTypeName", 2)):
        pages = tags.client.read_pages(path, pageSize="1")
        assert len({item[field] for page in pages for item in page["Items"]}) == count


def test_rows_of_global_are_those_of_the_data_model_and_keys_differ(tags: Tags) -> None:
    tags.own()
    assert "databaseId" not in (tags.tables.get(TAGS, {"tagName": "red"}) or {})
    assert tags.tables.get(TAGS, {"tagName": "roman"}) is None
    row = tags.tables.get(TAGS, {"tagName": "museum:roman"}) or {}
    assert (row["databaseId"], row["tagTypeName"]) == ("museum", "era")
    key = {"databaseId": "museum", "tagTypeName": "era"}
    assert (tags.tables.get(DATABASE_TAG_TYPES, key) or {})["tagCount"] == 1
    assert tags.tables.get(TAG_TYPES, {"tagTypeName": "era"}) is None


@pytest.mark.parametrize(
    ("path", "body", "field", "fact"),
    [
        ("/tags", {**ROMAN, **OWN, "tagName": "red"}, "tagName", "already exists in GLOBAL"),
        ("/tag-types", {**ERA, **OWN, "tagTypeName": "look"}, "tagTypeName", "exists in GLOBAL"),
        ("/tags", {**NEW, **OWN, "tagTypeName": "look"}, "tagTypeName", "look of museum does"),
        ("/tags", {**NEW, "tagTypeName": "era"}, "tagTypeName", "tag type era does not exist"),
        ("/tags", {**ROMAN, "databaseId": "global"}, "databaseId", "must not be 'GLOBAL'"),
        ("/tag-types", {**ERA, "databaseId": "nowhere"}, "databaseId", "nowhere does not exist"),
    ],
)
def test_a_name_a_type_or_a_scope_that_does_not_fit_is_refused_by_field(
    tags: Tags, path: str, body: dict[str, Any], field: str, fact: str
) -> None:
    tags.own()
    answer = tags.write(path, body)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (400, [field])
    assert fact in answer.body["message"]


def test_a_name_of_global_that_a_database_has_is_a_warning(tags: Tags) -> None:
    tags.own()
    for path, name, body in (("/tag-types", "tag type era", ERA), ("/tags", "tag roman", ROMAN)):
        answer = tags.write(path, body)
        sentence = f"Database museum has its own {name}, which its assets use"
        assert (answer.status, answer.body["warnings"]) == (200, [sentence])
    assert "warnings" not in tags.write("/tags", {**ROMAN, "tagName": "greek"}).body
    assert tags.write("/tags", {**ROMAN, **OWN}).status == 409


def test_the_scope_of_a_list_is_that_of_its_items_without_any(tags: Tags) -> None:
    tags.own()
    of_global = {**NEW, "tagTypeName": "look", "databaseId": "GLOBAL"}
    items = [{**ROMAN, "tagName": "greek"}, of_global]
    assert tags.write("/tags", {"tags": items, **OWN}).status == 200
    assert tags.listed(databaseId="museum") == ["museum:greek", "museum:roman"]
    assert "GLOBAL:new" in tags.listed()


def test_updates_and_deletions_are_of_the_scope_that_they_name(tags: Tags) -> None:
    tags.own()
    changed = {**ROMAN, "description": "Rome"}
    assert tags.write("/tags", changed, method="PUT").status == 404
    assert tags.write("/tags", {**changed, **OWN}, method="PUT").status == 200
    row = tags.tables.get(TAGS, {"tagName": "museum:roman"}) or {}
    assert (row["description"], row["databaseId"]) == ("Rome", "museum")
    required = {**ERA, **OWN, "required": "True"}
    assert tags.write("/tag-types", required, method="PUT").status == 200
    assert tags.delete("/tags", "roman").status == 404
    assert tags.delete("/tag-types", "era", **OWN).status == 409
    job = tags.assets.tags.jobs.find(tags.delete("/tags", "roman", **OWN).body["jobId"])
    assert job is not None
    assert job.database_id == "museum"
    assert tags.delete("/tag-types", "era", **OWN).status == 200
    assert tags.listed("/tag-types") == ["GLOBAL:look"]


def test_a_database_with_types_is_not_deleted(tags: Tags) -> None:
    tags.own()
    with pytest.raises(DatabaseDefinitionsError, match="museum has 1 tag type; delete them first"):
        tags.assets.databases.delete_database(ADMIN, "museum")
    tags.delete("/tags", "roman", **OWN)
    tags.delete("/tag-types", "era", **OWN)
    tags.assets.databases.delete_database(ADMIN, "museum")
    assert tags.write("/tag-types", {**ERA, **OWN}).body["errors"][0]["field"] == "databaseId"


def test_a_hidden_database_hides_its_tags(tags: Tags) -> None:
    tags.own()
    blind = tags.blind()
    assert (
        blind.listed(databaseId="museum") == blind.listed("/tag-types", databaseId="museum") == []
    )
    assert blind.write("/tags", {**ROMAN, **OWN}, method="PUT").status == 404
    assert blind.delete("/tags", "roman", **OWN).status == 404
    assert blind.delete("/tag-types", "era", **OWN).status == 404
    assert blind.write("/tag-types", {**ERA, **OWN}).status == 400
    assert "warnings" not in blind.write("/tag-types", ERA).body
    with pytest.raises(InvalidInputError, match="tag roman does not exist"):
        blind.assets.tags.check_tags(ADMIN, "museum", ["roman"])


def test_a_name_on_an_asset_is_the_tag_of_its_database_or_of_global(tags: Tags) -> None:
    tags.own()
    asset = created_asset(tags.assets, tags=("roman", "red"))
    with pytest.raises(InvalidInputError, match="tag roman does not exist"):
        created_asset(tags.assets, "vase", database_id="annex", tags=("roman",))
    tags.delete("/tags", "roman", **OWN)
    kept = UpdateAssetBody(tags=["roman", "blue"])
    edited = tags.assets.update_asset(ADMIN, "museum", asset.asset_id, kept)
    assert edited.tags == ["roman", "blue"], "a tag that the asset has is not checked again"


def test_required_types_are_those_of_the_database_and_of_global(tags: Tags) -> None:
    tags.own(required="True")
    created_asset(tags.assets, database_id="annex")
    with pytest.raises(InvalidInputError, match="a tag of type era of museum is required"):
        created_asset(tags.assets, "vase")
    # The type of GLOBAL has the same name, and another tag.
    tags.write("/tag-types", {**ERA, "required": "True"})
    tags.write("/tags", {**ROMAN, "tagName": "late"})
    with pytest.raises(InvalidInputError, match="a tag of type era is required"):
        created_asset(tags.assets, "vase", tags=("roman",))
    created_asset(tags.assets, "vase", tags=("roman", "late"))
    tags.write("/tags", ROMAN)  # on assets of the database, the name is still its own tag
    created_asset(tags.assets, "urn", tags=("roman", "late"))


def test_only_administrators_create_a_tag_of_a_database_that_rules_use(tags: Tags) -> None:
    class Rules:
        def named_tags(self, tag_names: Any) -> set[str]:
            return set(tag_names) & {"approved"}

    class TagsOnly(OnlyUser):
        def may(self, caller: Identity, action: Action, target: Secured) -> bool:
            return target.object_type != "constraint"

    tags.own()
    service = replace(tags.assets.tags, rules=Rules(), authorization=TagsOnly())
    client = Client(build_router(service))
    body = {**ROMAN, **OWN, "tagName": "approved"}
    answer = client.send("POST", "/tags", body=body)
    assert (answer.status, answer.body["code"]) == (403, PermissionDeniedError.code)
    assert tags.write("/tags", body).status == 200
