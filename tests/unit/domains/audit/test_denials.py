"""Refusals of known callers: each is counted, some are entered, and none fails for that."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.clients import dynamodb
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.authorization import Secured
from backend.core.clock import Clock
from backend.core.denials import Denial, LateDenials, Watch, WatchedAuthorization
from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.audit.models import denial_entity, read_entity
from backend.domains.audit.repository import AuditRepository
from backend.domains.audit.service.refusals import (
    ENTRIES_OF_ALL,
    ENTRIES_OF_USER,
    PAUSE,
    USERS,
    RefusalTrail,
    Sampler,
)
from backend.domains.downloads.errors import NotStreamedError
from backend.entrypoints.wiring.api import refusals
from backend.entrypoints.wiring.context import Context
from backend.spec import routes
from backend.spec.functions.apis import ASSETS_API
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.routes import Action, Route
from tests.factories.audit import DAYS, entries
from tests.factories.http import RecordedDenials
from tests.factories.search import NOON
from tests.fakes.tables import MemoryTables
from tests.unit.domains.audit.product import Product

ANN = Identity("ann")
STATUE = {"databaseId": "museum", "assetId": "statue"}


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables that botocore reads and writes."""
    return dynamo_tables


def denial(user_id: str = "ann", **more: Any) -> Denial:
    fields: dict[str, Any] = {"route": routes.GET_ASSET, "path": STATUE, "refusal": "object"}
    query: dict[str, Any] = {"action": "GET", "object_type": "asset"}
    return Denial(caller=Identity(user_id), **{**fields, **query, **more})


@dataclass
class CountingMetrics:
    """Counts in memory."""

    denials: list[Denial] = field(default_factory=list[Denial])
    lost: list[str] = field(default_factory=list[str])

    def denied(self, denial: Denial) -> None:
        self.denials.append(denial)

    def not_entered(self, denial: Denial, reason: str) -> None:
        self.lost.append(reason)


def refusal_trail(
    tables: Tables, clock: Clock = lambda: NOON, counted: CountingMetrics | None = None
) -> RefusalTrail:
    numbers = iter(range(10**6))
    return RefusalTrail(
        AuditRepository(tables),
        counted or CountingMetrics(),
        days=lambda: DAYS,
        clock=clock,
        suffix=lambda: f"{next(numbers):08}",
    )


@dataclass
class DenialTrail:
    """A trail of refusals with its table, counter and clock."""

    tables: MemoryTables = field(default_factory=MemoryTables)
    counted: CountingMetrics = field(default_factory=CountingMetrics)
    now: datetime = NOON

    def __post_init__(self) -> None:
        self.trail = refusal_trail(self.tables, lambda: self.now, self.counted)

    def refuse(self, user_id: str = "ann", **more: Any) -> None:
        self.trail.record(denial(user_id, **more))

    @property
    def entries(self) -> list[dict[str, Any]]:
        return entries(self.tables)


@pytest.fixture
def trail() -> DenialTrail:
    return DenialTrail()


def test_an_entry_shows_who_was_refused_what_and_how_often(trail: DenialTrail) -> None:
    trail.refuse()
    (entry,) = trail.entries
    assert entry == {
        "entity": "denial:asset:museum:statue",
        "at": "2026-03-01T12:00:00.000000Z#00000000",
        "userId": "ann",
        "operation": "get_asset",
        "changes": {},
        "denied": {
            "refusal": "object",
            "route": "GET /database/{databaseId}/assets/{assetId}",
            "action": "GET",
            "objectType": "asset",
            "path": STATUE,
            "leftOut": 0,
        },
        "expiresAt": int((NOON + timedelta(days=DAYS)).timestamp()),
    }
    for _ in range(ENTRIES_OF_USER + 25):
        trail.refuse()
    trail.refuse("bob")
    assert len(trail.entries) == ENTRIES_OF_USER + 1
    assert len(trail.counted.denials) == ENTRIES_OF_USER + 27
    assert not trail.counted.lost
    trail.now += timedelta(minutes=1)
    trail.refuse()
    assert trail.entries[-1]["denied"]["leftOut"] == 26
    trail.refuse()
    assert trail.entries[-1]["denied"]["leftOut"] == 0


def test_the_memory_of_what_was_left_out_and_the_entries_of_all_are_bounded(
    trail: DenialTrail,
) -> None:
    for number in range(ENTRIES_OF_ALL + 20):
        trail.refuse(f"user-{number}")
    assert len(trail.entries) == ENTRIES_OF_ALL
    assert len(trail.counted.denials) == ENTRIES_OF_ALL + 20
    sampler = Sampler()
    for number in range(USERS + 5):
        sampler.leave_out(f"user-{number}")
    assert sampler.admit("user-0", NOON) == 0
    assert sampler.admit(f"user-{USERS}", NOON) == 1


def test_an_unavailable_table_is_not_requested_for_a_while_and_that_is_counted(
    trail: DenialTrail,
) -> None:
    requests: list[str] = []

    def out(operation: str) -> None:
        requests.append(operation)
        raise UnavailableError("DynamoDB does not answer")

    trail.tables.before = out
    for _ in range(3):
        trail.refuse()
    assert (len(requests), len(trail.counted.lost), len(trail.counted.denials)) == (1, 3, 3)
    trail.tables.before = lambda operation: None
    trail.refuse()
    assert len(trail.counted.lost) == 4
    trail.now += PAUSE
    trail.refuse()
    (entry,) = trail.entries
    assert entry["denied"]["leftOut"] == 4


@pytest.mark.parametrize(
    ("route", "path", "entity"),
    [
        (routes.GET_ASSET, STATUE, "denial:asset:museum:statue"),
        (routes.GET_DATABASE, {"databaseId": "museum"}, "denial:database:museum"),
        (routes.LIST_AUDIT_ENTRIES, {}, "denial:GET /audit"),
        (routes.DELETE_TAG, {"tagId": "red"}, "denial:DELETE /tags/{tagId}"),
        (
            routes.GET_ASSET,
            {"databaseId": "museum", "assetId": "\U0001f980" * 600},
            "denial:GET /database/{databaseId}/assets/{assetId}",
        ),
    ],
)
def test_what_was_refused_has_a_name_of_its_own(
    route: Route, path: dict[str, str], entity: str
) -> None:
    assert denial_entity(route, path) == entity


@pytest.mark.parametrize("sent", ["x" * 5000, "\ud800", "\x00", "a\r\nb", "\U0001f980" * 600])
def test_whatever_was_sent_in_a_path_can_be_entered(tables: DynamoTables, sent: str) -> None:
    refusal_trail(tables).record(denial(path={"databaseId": sent, "assetId": sent}))
    (entry,) = entries(tables)
    assert len(entry["denied"]["path"]["assetId"]) <= 256


def test_who_follows_an_asset_does_not_learn_who_read_it_or_was_kept_from_it() -> None:
    (notifier,) = (s for s in STREAM_SUBSCRIPTIONS if s.consumer == "Notifier")
    entities = (denial_entity(routes.GET_ASSET, STATUE), read_entity("museum", "statue"))
    for pattern in (notifier.pattern, notifier.pattern_with_events):
        prefixes = json.loads(pattern or "")["dynamodb"]["Keys"]["entity"]["S"]
        assert prefixes
        assert not any(entity.startswith(row["prefix"]) for entity in entities for row in prefixes)


class DenyAll:
    """Rules that allow nothing."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return False


def test_the_watch_distinguishes_denied_absent_and_in_a_state_that_forbids() -> None:
    watch = Watch()
    rules = WatchedAuthorization(DenyAll(), watch)
    error = AssetNotFoundError("museum", "statue")
    assert watch.denial(ANN, routes.GET_ASSET, STATUE, error) is None
    assert not rules.may(ANN, "GET", Secured("asset", {"databaseId": "museum"}))
    result = watch.denial(ANN, routes.GET_ASSET, STATUE, error)
    assert result is not None
    assert (result.refusal, result.action, result.object_type) == ("invisible", "GET", "asset")
    assert Watch().denial(ANN, routes.STREAM_FILE, STATUE, NotStreamedError()) is None


def test_nothing_is_made_for_refusals_before_there_is_one() -> None:
    made: list[RecordedDenials] = []

    def make() -> RecordedDenials:
        made.append(RecordedDenials())
        return made[-1]

    denials = LateDenials(make)
    assert not made
    denials.record(denial())
    denials.record(denial())
    (item,) = made
    assert len(item.recorded) == 2


def test_a_function_counts_and_enters_refusals_with_what_it_declares(
    tables: DynamoTables,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables.settings.table(next(t for t in ASSETS_API.tables if t.name == "Audit"))  # is made
    own = {**settings.environment, "SETTING_AUDIT_DAYS": "400"}
    refusals(Context(ASSETS_API, settings=Settings(own))).record(denial())
    (counted,) = [
        reply
        for line in capsys.readouterr().out.splitlines()
        if "AccessDenied" in (reply := json.loads(line))
    ]
    assert (counted["reason"], counted["AccessDenied"]) == ("object", [1.0])
    assert dynamodb().scan(TableName="test-Audit")["Count"] == 1


def test_entries_of_refusals_are_read_as_others_are_and_by_no_one_else() -> None:
    product = Product()
    refusal_trail(product.tables, product.clock).record(denial())
    for query in ({"entity": "denial:asset:museum:statue"}, {"userId": "ann"}):
        (entry,) = product.send(routes.LIST_AUDIT_ENTRIES, query=query).body["Items"]
        assert entry["denied"]["route"] == routes.GET_ASSET.key
        refused = product.send(routes.LIST_AUDIT_ENTRIES, user_id="ann", query=query)
        assert refused.status == 403
        assert "denied" not in str(refused.body)
    none = product.send(routes.LIST_AUDIT_ENTRIES, query={"entity": "asset:museum:statue"})
    assert none.body["Items"] == []
