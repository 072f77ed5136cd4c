"""Tags and tag types: their rules and routes, one by one and as lists."""

from dataclasses import replace
from datetime import datetime

import pytest

from backend.core.authorization import Action, Secured
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.audit.service.commands import AuditService
from backend.domains.tags.models import Scoped, Tag
from backend.domains.tags.repository import TagRepository, TagTypeRepository
from backend.domains.tags.routes import build_router
from backend.domains.tags.service import TagService
from backend.spec.tables.operations import JOBS
from backend.spec.tables.registry import TAG_TYPES
from tests.factories.access import OnlyUser
from tests.factories.assets import database_service
from tests.factories.http import Client, Response, operation_reply
from tests.factories.jobs import ADMIN, job_service

COLOUR = {"tagTypeName": "colour", "description": "Main colour"}
GLOBAL_RED = Scoped("GLOBAL", "red")
RED = {"tagName": "red", "description": "Mostly red", "tagTypeName": "colour"}


@pytest.fixture
def service(tables: Tables, audit: AuditService, now: datetime) -> TagService:
    types = TagTypeRepository(tables)
    return TagService(
        TagRepository(tables),
        types,
        database_service(tables, audit, lambda: now),
        PolicyRepository(tables),
        DeletedNames(DeletedNameRepository(tables), OnlyUser()),
        OnlyUser(),
        audit,
        job_service(tables),
        lambda: now,
    )


@pytest.fixture
def client(service: TagService) -> Client:
    return Client(build_router(service))


def write_type(client: Client, method: str = "POST", **changes: object) -> Response:
    return client.send(method, "/tag-types", body={**COLOUR, **changes})


def write_tag(client: Client, method: str = "POST", **changes: object) -> Response:
    return client.send(method, "/tags", body={**RED, **changes})


def delete_type(client: Client, name: str = "colour") -> Response:
    return client.send("DELETE", f"/tag-types/{name}", parameters={"tagTypeId": name})


def delete_tag(client: Client, name: str = "red") -> Response:
    return client.send("DELETE", f"/tags/{name}", parameters={"tagId": name})


def tags(client: Client) -> dict[str, dict[str, str]]:
    items = client.send("GET", "/tags").body["Items"]
    return {item.pop("tagName"): item for item in items}


def types(client: Client) -> dict[str, dict[str, object]]:
    items = client.send("GET", "/tag-types").body["Items"]
    return {item.pop("tagTypeName"): item for item in items}


def test_a_created_type_and_its_tags_are_listed(client: Client) -> None:
    assert write_type(client).body == operation_reply(
        "Tag type colour was created", "create", tagTypeName="colour"
    )
    assert write_tag(client).body == operation_reply("Tag red was created", "create", tagName="red")
    write_tag(client, tagName="blue")
    assert types(client) == {
        "colour": {
            "description": "Main colour",
            "required": "False",
            "tags": ["blue", "red"],
            "databaseId": "GLOBAL",
        }
    }
    assert tags(client)["red"] == {
        "description": "Mostly red",
        "tagTypeName": "colour",
        "required": "False",
        "databaseId": "GLOBAL",
    }


def test_a_required_type_is_shown_by_its_tags_and_kept_by_updates(client: Client) -> None:
    write_type(client, required="True")
    write_tag(client)
    assert tags(client)["red"]["tagTypeName"] == "colour [R]"
    assert tags(client)["red"]["required"] == "True"
    assert "colour" in types(client)
    assert write_type(client, "PUT", description="Other").status == 200
    assert types(client)["colour"]["required"] == "True"
    assert write_type(client, "PUT", required="False").status == 200
    assert types(client)["colour"]["required"] == "False"


def test_a_taken_name_is_a_conflict_and_does_not_count(client: Client, tables: Tables) -> None:
    write_type(client)
    write_tag(client)
    assert (write_type(client).status, write_tag(client).status) == (409, 409)
    assert write_tag(client).body["code"] == "TagExists"
    item = tables.get(TAG_TYPES, {"tagTypeName": "colour"}) or {}
    assert item["tagCount"] == 1


def test_an_unknown_type_is_refused_by_name_and_changes_nothing(client: Client) -> None:
    answer = write_tag(client)
    assert answer.status == 400
    assert answer.body["errors"] == [
        {"field": "tagTypeName", "message": "tag type colour does not exist"}
    ]
    assert tags(client) == {}
    write_type(client)
    write_tag(client)
    answer = write_tag(client, "PUT", tagTypeName="paint", description="Other")
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "tagTypeName")
    assert tags(client)["red"]["description"] == "Mostly red"
    assert delete_tag(client).status == 200
    assert delete_type(client).status == 200


def test_an_update_changes_description_and_type_of_a_tag(client: Client) -> None:
    write_type(client)
    write_type(client, tagTypeName="paint", required="True")
    write_tag(client)
    assert write_tag(client, "PUT", description="Quite red").body["operation"] == "update"
    assert write_tag(client, "PUT", tagTypeName="paint").status == 200
    changed = {"description": "Mostly red", "tagTypeName": "paint [R]", "required": "True"}
    assert tags(client) == {"red": {**changed, "databaseId": "GLOBAL"}}


def test_a_type_in_use_is_deleted_once_its_last_tag_is_deleted_or_changed(client: Client) -> None:
    write_type(client)
    write_tag(client)
    answer = delete_type(client)
    assert (answer.status, answer.body["code"]) == (409, "TagTypeInUse")
    assert "colour" in types(client)
    write_type(client, tagTypeName="paint")
    write_tag(client, tagName="blue")
    write_tag(client, "PUT", tagTypeName="paint")
    assert delete_type(client).status == 409
    delete_tag(client, "blue")
    assert delete_type(client).body["operation"] == "delete"
    assert delete_type(client, "paint").status == 409
    assert set(types(client)) == {"paint"}


def test_a_type_that_got_a_tag_meanwhile_is_not_deleted(
    client: Client, service: TagService, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_type(client)
    get = TagTypeRepository.get

    def get_then_tag(repository: TagTypeRepository, name: Scoped) -> object:
        result = get(repository, name)
        write_tag(client)
        return result

    with monkeypatch.context() as patched:
        patched.setattr(TagTypeRepository, "get", get_then_tag)
        assert delete_type(client).status == 409
    assert set(types(client)) == {"colour"}


def test_a_deleted_tag_names_its_job(client: Client, service: TagService) -> None:
    write_type(client)
    write_tag(client)
    seen = service.tags.get(GLOBAL_RED)
    assert seen is not None
    write_tag(client, "PUT", description="Other")
    with pytest.raises(Exception, match="changed by someone else"):
        service.tags.delete(seen)
    assert tags(client)["red"]["description"] == "Other"
    job_id = delete_tag(client).body["jobId"]
    job = service.jobs.find(job_id)
    assert job is not None
    assert (job.kind, job.state) == ("withdrawTag", "queued")
    assert job.parameters == {"tagName": "red", "tagTypeName": "colour"}
    assert "jobId" not in write_tag(client).body


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tagName", ""),
        ("tagName", "   "),
        ("tagName", "a#b"),
        ("tagName", "a:b"),
        ("tagName", "a/b"),
        ("tagName", "a\nb"),
        ("tagName", "a\u0301"),
        ("tagName", "x" * 257),
        ("tagName", 7),
        ("tagName", None),
        ("description", ""),
        ("description", "x" * 257),
        ("description", "\ud800"),
        ("tagTypeName", "colour [R]"),
        ("tagTypeName", ["colour"]),
    ],
)
def test_a_wrong_field_of_a_tag_is_refused_by_name(
    client: Client, field: str, value: object
) -> None:
    write_type(client)
    for method in ("POST", "PUT"):
        answer = client.send(method, "/tags", body={**RED, field: value})
        assert answer.status == 400
        assert [error["field"] for error in answer.body["errors"]] in ([field], ["body"])


@pytest.mark.parametrize(
    ("field", "value"),
    [("tagTypeName", "a/b"), ("description", ""), ("required", "yes"), ("required", True)],
)
def test_a_wrong_field_of_a_type_is_refused_by_name(
    client: Client, field: str, value: object
) -> None:
    answer = client.send("POST", "/tag-types", body={**COLOUR, field: value})
    assert answer.status == 400
    assert [error["field"] for error in answer.body["errors"]] == [field]


def test_lists_are_paged_for_administrators_only(client: Client, service: TagService) -> None:
    for number in range(5):
        write_type(client, tagTypeName=f"type-{number}")
        write_tag(client, tagName=f"tag-{number}", tagTypeName=f"type-{number}")
    for path, name in (("/tags", "tagName"), ("/tag-types", "tagTypeName")):
        names: set[str] = set()
        for page in client.read_pages(path, pageSize="2"):
            assert len(page["Items"]) <= 2
            assert page.pop("message") == page
            names |= {item[name] for item in page["Items"]}
        assert len(names) == 5
    write_type(client)
    write_tag(client)
    stranger = Client(build_router(service), user_id="stranger")
    answers = [
        stranger.send("GET", "/tags"),
        stranger.send("GET", "/tag-types"),
        write_tag(stranger, "PUT"),
        write_type(stranger, "PUT"),
        delete_tag(stranger),
        delete_type(stranger),
    ]
    assert [answer.status for answer in answers] == [403] * 6


@pytest.mark.parametrize("tags_are_hidden", [True, False])
def test_the_size_of_a_page_of_types_counts_only_visible_tags(
    client: Client, service: TagService, monkeypatch: pytest.MonkeyPatch, tags_are_hidden: bool
) -> None:
    monkeypatch.setattr("backend.core.paging.MAX_BYTES_PER_PAGE", 400)
    for number in range(2):
        write_type(client, tagTypeName=f"type-{number}")
        for letter in "abc":
            write_tag(client, tagName=f"{letter * 100}-{number}", tagTypeName=f"type-{number}")
    if tags_are_hidden:
        client = Client(build_router(replace(service, authorization=TagsHidden())))
    first = client.send("GET", "/tag-types").body["Items"]
    assert len(first) == (2 if tags_are_hidden else 1)
    assert len(first[0]["tags"]) == (0 if tags_are_hidden else 3)


class TagsHidden(OnlyUser):
    """May do everything, but see tags."""

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action != "GET" or target.object_type != "tag"


def refusal(service: TagService, *names: str) -> str:
    with pytest.raises(InvalidInputError) as refused:
        service.check_tags(ADMIN, "museum", names)
    assert refused.value.fields[0].field == "tags"
    return refused.value.message


def test_tags_that_exist_and_may_be_seen_pass(client: Client, service: TagService) -> None:
    write_type(client)
    write_tag(client)
    service.check_tags(ADMIN, "museum", ["red"])
    service.check_tags(ADMIN, "museum", [])
    assert refusal(service, "red", "green", "blue") == "tags: tag blue, green does not exist"
    blind = replace(service, authorization=TypeHidden())
    assert refusal(blind, "red") == refusal(blind, "green").replace("green", "red")
    blind.check_tags(ADMIN, "museum", ["red"], carried=["red", "blue"])
    service.check_tags(ADMIN, "museum", ["red"])


class TypeHidden(OnlyUser):
    """May do everything, but see what is of the type `colour`."""

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action != "GET" or target.fields.get("tagTypeName") != "colour"


def test_a_required_type_that_may_not_be_seen_is_not_named(
    client: Client, service: TagService
) -> None:
    write_type(client, required="True")
    write_type(client, tagTypeName="era", required="True")
    write_tag(client)
    write_tag(client, tagName="gothic", tagTypeName="era")
    blind = replace(service, authorization=TypeHidden())
    assert refusal(blind) == "tags: a tag of type era is required"
    hidden = "tags: a tag of a required type is missing; you have no permission to see that type"
    assert refusal(blind, "gothic") == hidden
    blind.check_tags(ADMIN, "museum", ["gothic", "red"], carried=["red"])


def test_a_required_type_with_tags_must_be_covered(client: Client, service: TagService) -> None:
    write_type(client, required="True")
    service.check_tags(ADMIN, "museum", [])
    write_tag(client)
    refusal(service)
    delete_tag(client)
    service.check_tags(ADMIN, "museum", [])
    write_type(client, tagTypeName="era")
    write_tag(client)
    write_tag(client, tagName="gothic", tagTypeName="era")
    assert refusal(service) == "tags: a tag of type colour is required"
    assert refusal(service, "gothic") == "tags: a tag of type colour is required"
    service.check_tags(ADMIN, "museum", ["red", "gothic"])


def test_a_deletion_that_was_overtaken_starts_no_job(
    client: Client, service: TagService, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_type(client)
    write_tag(client)
    result = service.tags.get(GLOBAL_RED)
    assert result is not None
    write_tag(client, "PUT", description="Rather red")

    def stale(repository: TagRepository, tag: Scoped) -> Tag:
        return result

    monkeypatch.setattr(TagRepository, "get", stale)
    assert delete_tag(client).status == 412
    assert tables.scan(JOBS, PageRequest(10)).items == ()


def test_tags_and_types_are_written_as_lists(client: Client) -> None:
    """As the command line of VAMS sends them."""
    types = [COLOUR, {"tagTypeName": "state", "description": "How it is", "required": "True"}]
    answer = client.send("POST", "/tag-types", body={"tagTypes": types})
    assert (answer.status, answer.body["message"]) == (200, "2 tag types were created")
    tags = [RED, {**RED, "tagName": "blue"}]
    answer = client.send("POST", "/tags", body={"tags": tags})
    assert (answer.status, answer.body["tagName"]) == (200, "red")
    changed = client.send("PUT", "/tags", body={"tags": [{**RED, "description": "Quite red"}]})
    assert changed.body["message"] == "Tag red was changed"
    again = client.send("PUT", "/tag-types", body={"tagTypes": [{**COLOUR, "required": "True"}]})
    assert again.status == 200
    shown = client.send("GET", "/tags").body["Items"]
    assert {tag["tagName"]: tag["description"] for tag in shown} == {
        "red": "Quite red",
        "blue": "Mostly red",
    }


@pytest.mark.parametrize(
    ("path", "body", "field", "fact"),
    [
        (
            "/tags",
            {},
            "description",
            "is required; the required fields are description, tagName, tagTypeName",
        ),
        ("/tags", {"tags": []}, "tags", "at least 1"),
        ("/tags", {"tags": [{"tagName": "red"}]}, "tags.0.description", "required"),
        ("/tags", {**RED, "tagName": None}, "tagName", "is required"),
        ("/tag-types", {"tagTypeName": "x"}, "description", "To send a list, use 'tagTypes'"),
        ("/tag-types", {"tagTypes": [COLOUR] * 101}, "tagTypes", "at most 100"),
    ],
)
def test_a_body_without_tags_names_what_is_missing(
    client: Client, path: str, body: dict[str, object], field: str, fact: str
) -> None:
    answer = client.send("POST", path, body=body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert fact in answer.body["message"]


def test_a_missing_body_names_the_required_fields(client: Client) -> None:
    answer = client.send("POST", "/tags")
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "body")
    assert (
        "description: is required; the required fields are description, tagName, tagTypeName"
        in answer.body["message"]
    )
