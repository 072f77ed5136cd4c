"""Who may purge what, and when; what is refused changes nothing."""

from typing import Any

import pytest

from backend.spec import routes
from backend.spec.jobs import PURGE_DATABASE
from backend.spec.tables.operations import JOBS
from tests.factories.access import OnlyUser
from tests.unit.domains.audit.product import lonely_entries
from tests.unit.domains.database_purges.world import CONFIRMED, World

SHOWN: dict[str, Any] = {"query": {"showDeleted": "true"}, "parameters": {"databaseId": "museum"}}


def deleted(world: World) -> World:
    world.fill("museum")
    world.delete()
    return world


def test_a_purge_is_a_job_that_the_reply_names(world: World) -> None:
    answer = deleted(world).purge()
    (job,) = world.jobs().values()
    assert answer.status == 200
    assert answer.body == {
        "message": f"Database museum is being purged by job {job.job_id}",
        "jobId": job.job_id,
        "jobState": "queued",
    }
    assert (job.kind, job.database_id, job.created_by) == (PURGE_DATABASE.name, "museum", "admin")
    again = world.purge()
    assert (again.status, again.body["code"]) == (409, "DatabasePurging")
    assert job.job_id in again.body["message"]
    assert list(world.jobs()) == [job.job_id]
    reply = world.product.send(routes.GET_DATABASE, **SHOWN)
    assert reply.body["purgeJobId"] == job.job_id


def test_an_active_database_is_not_purged(world: World) -> None:
    world.fill("museum")
    answer = world.purge()
    assert (answer.status, answer.body["code"]) == (409, "DatabaseActive")
    deleted = world.purge(query={})  # an ordinary deletion needs no body and purges nothing
    assert (deleted.status, deleted.body) == (200, {"message": "Database museum was deleted"})
    assert world.create().status == 200
    answer = world.purge()  # the former one neither
    assert (answer.status, answer.body["code"]) == (409, "DatabaseActive")
    assert world.jobs() == {}


def test_a_database_that_was_deleted_again_since_it_was_read_is_not_purged(world: World) -> None:
    deleted(world)
    etag = world.product.send(routes.GET_DATABASE, **SHOWN).headers["ETag"]
    world.create()
    path = {"databaseId": "museum"}
    world.done(routes.UPDATE_DATABASE, path, {"description": "Only the east wing"})
    world.delete()
    assert world.purge(headers={"if-match": etag}).status == 412
    now = world.product.send(routes.GET_DATABASE, **SHOWN).headers["ETag"]
    assert world.purge(headers={"if-match": now}).status == 200


def test_the_id_is_taken_until_the_purge_has_ended(world: World) -> None:
    deleted(world).purge()
    answer = world.create()
    assert (answer.status, answer.body["code"]) == (409, "DatabasePurging")
    world.work_off()
    assert world.create().status == 200
    assert world.product.send(routes.GET_DATABASE, **SHOWN).status == 404


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("create", "purge", "DatabaseActive"),
        ("purge", "create", "DatabasePurging"),
        ("purge", "purge", "DatabasePurging"),
    ],
)
def test_of_two_that_overtake_each_other_one_wins(
    world: World, first: str, second: str, code: str
) -> None:
    """The second one has read everything before the first one writes."""
    deleted(world)
    statuses: list[int] = []
    world.at_the_first("write", lambda: statuses.append(getattr(world, first)().status))
    refused = getattr(world, second)()
    assert (statuses, refused.status, refused.body["code"]) == ([200], 409, code)
    active = world.product.send(routes.GET_DATABASE, parameters={"databaseId": "museum"})
    assert (active.status == 200) == (first == "create")
    assert (len(world.jobs()) == 1) == (first == "purge")


def test_a_purge_whose_job_has_expired_can_be_started_again(world: World) -> None:
    job_id = deleted(world).purge().body["jobId"]
    world.tables.expire(JOBS, {"jobId": job_id})
    again = world.purge()
    assert again.status == 200
    assert again.body["jobId"] != job_id
    world.work_off()
    assert world.create().status == 200


def test_the_entry_of_a_purge_is_written_with_it(world: World) -> None:
    answer = deleted(world).purge(body={**CONFIRMED, "reason": "by law"})
    entry = world.product.entries[-1]
    assert (entry["operation"], entry["entity"]) == ("purge_database", "database:museum")
    assert entry["changes"]["purgeJobId"] == {"after": answer.body["jobId"]}
    assert entry["changes"]["purgedReason"] == {"after": "by law"}
    assert "purge_database" not in lonely_entries(world.product.tables.together)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        *(({"body": {**CONFIRMED, "reason": r}}, "reason") for r in ("x" * 257, 7, "a\u0000")),
        ({"query": {"purge": "please"}}, "purge"),
        *(
            ({"body": body}, "confirmPermanentDelete")
            for body in (None, {}, {"confirmPermanentDelete": False})
        ),
    ],
)
def test_a_wrong_purge_is_refused_by_name(world: World, more: Any, field: str) -> None:
    answer = deleted(world).purge(**more)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert world.jobs() == {}


def test_a_stranger_purges_nothing(world: World) -> None:
    deleted(world)
    world.product.authorization = OnlyUser("stranger")
    answer = world.purge(user_id="stranger")
    assert answer.status == 404  # the service asks for itself
    assert world.jobs() == {}
