"""Writes whose first reply is lost, so that botocore sends them again, behind a proxy.

moto stores no tokens of transactions, so only DynamoDB Local is tested for behaviour that depends
on them.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest

from backend.core.errors import ConflictError
from backend.core.paging import PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import Condition, Delete, Put, Update, equals, exists, put_new
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.operations import RESERVATIONS
from local.proxy import Proxies
from tests.contract.tables.conftest import dynamo_tables
from tests.contract.tables.test_tables import TakenError, asset, read
from tests.engines import RealEngines, session

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
Replies = Callable[..., None]


@dataclass
class LossyEngine:
    """An engine behind a proxy. `tables` is the writer whose replies are lost; `others` is not."""

    tables: Tables
    others: Tables
    proxies: Proxies
    client: Any

    def lose(self, operation: str, *, carried_out: bool = True) -> None:
        """Lose one reply, or, with `carried_out` False, the request itself."""
        fault = {"engine": "dynamodb", "operation": operation, "times": 1, "reset": True}
        self.proxies.inject([{**fault, "after": carried_out}])

    def before_the_second_attempt(self, operation: str, step: Callable[[], object]) -> None:
        """Let another writer act between both attempts."""
        event = f"before-send.dynamodb.{operation}"
        attempts: list[object] = []

        def count(**_: object) -> None:
            attempts.append(None)
            if len(attempts) == 2:
                self.client.meta.events.unregister(event, count)
                step()

        self.client.meta.events.register(event, count)

    def assert_lost(self) -> None:
        assert self.proxies.faults() == []


def _before(url: str) -> Iterator[LossyEngine]:
    """An engine at an address, with a proxy before it that runs in a thread."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def run(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(30)

    proxies = Proxies()
    client = session().client("dynamodb", endpoint_url=run(proxies.before("dynamodb", url)))
    tables = dynamo_tables(client)
    direct = session().client("dynamodb", endpoint_url=url)
    yield LossyEngine(tables, type(tables)(direct, tables.settings), proxies, client)
    run(proxies.stop())
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def local(engines: RealEngines) -> Iterator[LossyEngine]:
    yield from _before(engines.url("dynamodb"))


@pytest.fixture(scope="module")
def moto(moto_url: str) -> Iterator[LossyEngine]:
    yield from _before(moto_url)


@pytest.fixture(params=["moto", "local"])
def lossy(request: pytest.FixtureRequest) -> LossyEngine:
    result: LossyEngine = request.getfixturevalue(request.param)
    return result


def revised(own: str, revision: int, **changes: Any) -> Update:
    """A change of an asset that is refused unless it has this revision."""
    return Update(
        table=ASSETS,
        key=asset(own, "a"),
        set=changes,
        add={"revision": 1},
        conditions=(equals("revision", revision),),
        refused=TakenError("another revision"),
    )


def test_a_new_item_is_put_though_the_first_reply_is_lost(lossy: LossyEngine, own: str) -> None:
    lossy.lose("PutItem")
    lossy.tables.write(put_new(ASSETS, asset(own, "a", x=1), TakenError("taken")))
    lossy.assert_lost()
    assert read(lossy.tables, own, "a") == asset(own, "a", x=1)


def test_a_new_item_is_still_its_writers_when_another_has_updated_it(
    lossy: LossyEngine, own: str
) -> None:
    update = Update(table=ASSETS, key=asset(own, "a"), set={"y": 2}, conditions=(exists("x"),))
    lossy.before_the_second_attempt("PutItem", lambda: lossy.others.write(update))
    lossy.lose("PutItem")
    lossy.tables.write(put_new(ASSETS, asset(own, "a", x=1), TakenError("taken")))
    lossy.assert_lost()
    assert read(lossy.tables, own, "a") == asset(own, "a", x=1, y=2)


def test_equal_content_of_another_writer_is_a_conflict(lossy: LossyEngine, own: str) -> None:
    new = put_new(ASSETS, asset(own, "a", x=1), TakenError("taken"))
    lossy.before_the_second_attempt("PutItem", lambda: lossy.others.write(new))
    lossy.lose("PutItem", carried_out=False)
    with pytest.raises(TakenError):
        lossy.tables.write(new)
    lossy.assert_lost()


def test_a_change_of_a_revision_is_made_once_and_answers_with_the_item(
    lossy: LossyEngine, own: str
) -> None:
    lossy.tables.write(Put(table=ASSETS, item=asset(own, "a", revision=4)))
    lossy.lose("UpdateItem")
    assert lossy.tables.write(revised(own, 4, x=1)) == asset(own, "a", revision=5, x=1)
    lossy.assert_lost()
    with pytest.raises(TakenError):
        lossy.tables.write(revised(own, 4, x=1))


def test_an_equal_change_by_another_writer_is_a_conflict(lossy: LossyEngine, own: str) -> None:
    lossy.tables.write(Put(table=ASSETS, item=asset(own, "a", revision=4)))
    same = revised(own, 4, x=1)
    lossy.before_the_second_attempt("UpdateItem", lambda: lossy.others.write(same))
    lossy.lose("UpdateItem", carried_out=False)
    with pytest.raises(TakenError):
        lossy.tables.write(same)
    lossy.assert_lost()


def test_a_change_whose_condition_still_holds_is_not_made_twice(
    lossy: LossyEngine, own: str
) -> None:
    lossy.tables.write(Put(table=ASSETS, item=asset(own, "a", status="active")))
    touch = Update(
        table=ASSETS,
        key=asset(own, "a"),
        add={"revision": 1},
        conditions=(equals("status", "active"),),
    )
    lossy.lose("UpdateItem")
    assert lossy.tables.write(touch) == asset(own, "a", status="active", revision=1)
    lossy.assert_lost()


def test_a_change_that_a_transaction_follows_does_not_undo_it(lossy: LossyEngine, own: str) -> None:
    lossy.tables.write(Put(table=ASSETS, item=asset(own, "a", status="active")))
    change = Update(
        table=ASSETS, key=asset(own, "a"), set={"x": 1}, conditions=(equals("status", "active"),)
    )
    later = Update(table=ASSETS, key=asset(own, "a"), set={"x": 2})
    lossy.before_the_second_attempt("UpdateItem", lambda: lossy.others.transact([later]))
    lossy.lose("UpdateItem")
    assert lossy.tables.write(change) == asset(own, "a", status="active", x=2)
    lossy.assert_lost()


def test_a_count_is_not_added_twice(lossy: LossyEngine, own: str) -> None:
    count = Update(table=RESERVATIONS, key={"reservationKey": own}, add={"count": 1})
    lossy.lose("UpdateItem")
    assert [(lossy.tables.write(count) or {})["count"] for _ in range(2)] == [1, 2]
    lossy.assert_lost()


def test_an_increment_may_leave_a_number_out_and_repeats_none(lossy: LossyEngine, own: str) -> None:
    key = {"reservationKey": own}
    lossy.lose("UpdateItem")
    ns = [lossy.tables.increment(RESERVATIONS, key, "n", initial=0)["n"] for _ in range(2)]
    lossy.assert_lost()
    assert ns == [2, 3]


def test_no_one_reads_the_ids_of_writes(lossy: LossyEngine, own: str) -> None:
    stored = asset(own, "a", revision=4)
    lossy.tables.write(put_new(ASSETS, stored, TakenError("taken")))
    lossy.tables.write(revised(own, 4))
    wanted = asset(own, "a", revision=5)
    key = asset(own, "a")
    query = Query(table=ASSETS, partition=own)
    assert lossy.tables.get(ASSETS, key) == wanted
    assert lossy.tables.get_many([(ASSETS, key)]) == [(ASSETS, wanted)]
    assert lossy.tables.query(query, PageRequest(1)).items == (wanted,)
    items = lossy.tables.scan(ASSETS, PageRequest(1000)).items
    assert [item for item in items if item["databaseId"] == own] == [wanted]


def test_a_job_continues_though_the_replies_to_its_lease_and_its_advance_are_lost(
    lossy: LossyEngine, own: str
) -> None:
    jobs = JobRepository(lossy.tables)
    runner = JobRunner(jobs, lambda: NOW)
    at = NOW.isoformat()  # a key of an index must not be empty
    job = Job(job_id=own, kind="k", created_by="u", created_at=at, updated_at=at, expires_at=0)
    lossy.lose("PutItem")
    lossy.tables.write(jobs.put_new(job))
    lossy.assert_lost()
    steps: list[int] = []

    def step(held: Job) -> Progress:
        lossy.assert_lost()
        steps.append(held.step)
        lossy.lose("UpdateItem")
        return Progress(finished=held.step == 1)

    lossy.lose("UpdateItem")
    done = runner.run(own, step, until=NOW + timedelta(seconds=20))
    lossy.assert_lost()
    assert done is not None
    assert (done.state, done.step, steps) == ("done", 2, [0, 1])


def test_a_conditional_delete_is_carried_out_though_the_first_reply_is_lost(
    local: LossyEngine, own: str
) -> None:
    local.tables.write(Put(table=ASSETS, item=asset(own, "a", x=1)))
    gone = Delete(table=ASSETS, key=asset(own, "a"), conditions=(equals("x", 1),))
    local.lose("TransactWriteItems")
    local.tables.write(gone)
    local.assert_lost()
    assert read(local.tables, own, "a") is None
    with pytest.raises(ConflictError):
        local.tables.write(gone)


def test_a_transaction_is_carried_out_once_though_the_first_reply_is_lost(
    local: LossyEngine, own: str
) -> None:
    free = Condition("n", "not >", 0)
    local.lose("TransactWriteItems")
    local.tables.transact(
        [
            put_new(ASSETS, asset(own, "a"), TakenError("taken")),
            Update(table=ASSETS, key=asset(own, "b"), add={"n": 1}, conditions=(free,)),
        ]
    )
    local.assert_lost()
    assert read(local.tables, own, "b") == asset(own, "b", n=1)
