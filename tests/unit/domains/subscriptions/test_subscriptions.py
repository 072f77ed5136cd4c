"""Who subscribes to assets, and which messages subscribers get."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.authorization import Secured
from backend.core.errors import UnavailableError
from backend.core.identity import SYSTEM, SYSTEM_PARTITIONS, Identity
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.assets.service.commands import AssetService
from backend.domains.subscriptions.models import Subscription
from backend.domains.subscriptions.repository import SubscriptionRepository
from backend.domains.subscriptions.routes import build_router
from backend.domains.subscriptions.rules import Notification, message_text, notification_of
from backend.domains.subscriptions.service.commands import SubscriptionService
from backend.domains.subscriptions.service.notifications import Notifier
from backend.spec.routes import Action, Route
from backend.spec.tables.access import USERS
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.registry import SUBSCRIPTIONS
from tests.factories.access import stored_user_role
from tests.factories.administration import email_addresses
from tests.factories.assets import NOON, asset_service, created_asset, created_database
from tests.factories.audit import audit_service, entries
from tests.factories.http import Client, Response
from tests.fakes.notifications import RememberedNotifications

ANN, BOB = "ann@example.org", "bob"
BODY: dict[str, Any] = {
    "eventName": "Asset Version Change",
    "entityName": "Asset",
    "entityId": "statue",
}


class AllButStrangers:
    """Permissions under which all may do everything, but strangers."""

    def may_use(self, caller: Identity, route: Route, path: Mapping[str, str]) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return caller.user_id != "stranger" and target.fields.get("databaseId") != "secret"


@pytest.fixture
def mail() -> RememberedNotifications:
    return RememberedNotifications()


@pytest.fixture
def assets(tables: Tables, objects: S3Objects) -> AssetService:
    bob = {"userId": BOB, "email": "bob@example.org", "emailConfirmed": True}
    tables.write(Put(table=USERS, item=bob))
    for user in (ANN, "eve@example.org"):
        stored_user_role(tables, user_id=user)
    made = asset_service(tables, objects)
    created_database(made)
    created_asset(made)
    # The factory's own rule lets in the administrator alone.
    return replace(made, authorization=AllButStrangers())


@pytest.fixture
def service(
    tables: Tables, objects: S3Objects, assets: AssetService, mail: RememberedNotifications
) -> SubscriptionService:
    return SubscriptionService(
        subscriptions=SubscriptionRepository(tables),
        assets=assets,
        addresses=email_addresses(tables),
        notifications=mail,
        audit=audit_service(objects),
        clock=lambda: NOON,
        per_minute=lambda: 60,
    )


@pytest.fixture
def client(service: SubscriptionService) -> Client:
    return Client(build_router(service), user_id="ann", authorization=AllButStrangers())


@pytest.fixture
def notifier(tables: Tables, assets: AssetService, mail: RememberedNotifications) -> Notifier:
    return Notifier(
        subscriptions=SubscriptionRepository(tables),
        assets=assets,
        addresses=email_addresses(tables),
        authorization=AllButStrangers(),
        notifications=mail,
    )


def send(client: Client, method: str, *users: str, path: str = "/subscriptions") -> Response:
    return client.send(method, path, body={**BODY, "subscribers": list(users)})


def subscribers(client: Client) -> list[list[str]]:
    items = client.send("GET", "/subscriptions").body["message"]["Items"]
    return [item["subscribers"] for item in items]


def archive(tables: Tables) -> None:
    key = {"databaseId": "museum", "assetId": "statue"}
    item = tables.get(ASSETS, key) or {}
    archived = {**item, "databaseId": "museum#deleted", "status": "archived"}
    tables.write(Put(table=ASSETS, item=archived))
    tables.delete_many(ASSETS, [key])


def check(client: Client, user: str, asset: str = "statue") -> Response:
    return client.send("POST", "/check-subscription", body={"userId": user, "assetId": asset})


def test_users_subscribe_are_listed_and_are_distinguished(
    client: Client, mail: RememberedNotifications
) -> None:
    assert send(client, "POST", ANN, BOB).body == {"message": "success"}
    assert client.send("GET", "/subscriptions").body == {
        "message": {
            "Items": [
                {
                    **BODY,
                    "subscribers": [ANN, BOB],
                    "entityValue": "A statue",
                    "databaseId": "museum",
                }
            ]
        }
    }
    assert mail.addresses == [ANN, "bob@example.org"]
    assert check(client, ANN).body == {"message": "success"}
    assert check(client, "eve@example.org").body == {"message": "Not subscribed"}


def test_users_unsubscribe_all_or_none(client: Client) -> None:
    send(client, "POST", ANN, BOB)
    refused = send(client, "DELETE", ANN, "eve@example.org", path="/unsubscribe")
    assert (refused.status, refused.body["code"]) == (404, "SubscriptionNotFound")
    assert subscribers(client) == [[ANN, BOB]]
    assert send(client, "DELETE", ANN, path="/unsubscribe").body == {"message": "success"}
    assert subscribers(client) == [[BOB]]
    send(client, "DELETE", BOB, path="/unsubscribe")
    assert subscribers(client) == []
    assert send(client, "DELETE", BOB, path="/unsubscribe").status == 404
    send(client, "POST", ANN, BOB)
    assert send(client, "DELETE", ANN).body == {"message": "success"}
    assert subscribers(client) == []
    assert send(client, "DELETE", ANN).status == 404
    assert send(client, "PUT", ANN).status == 404


def test_further_users_join_once(client: Client, mail: RememberedNotifications) -> None:
    send(client, "POST", ANN)
    again = send(client, "POST", BOB, ANN)
    assert (again.status, again.body["code"]) == (409, "SubscriptionExists")
    assert subscribers(client) == [[ANN]]
    send(client, "POST", BOB)
    assert subscribers(client) == [[ANN, BOB]]
    assert send(client, "PUT", BOB, "eve@example.org").body == {"message": "success"}
    assert subscribers(client) == [[BOB, "eve@example.org"]]
    assert mail.addresses == [ANN, "bob@example.org", "eve@example.org"]


def test_outages_change_nothing(client: Client, mail: RememberedNotifications) -> None:
    for method in ("POST", "PUT"):
        answer = send(client, method, ANN, "carl")
        if method == "POST":
            assert (answer.status, answer.body["errors"][0]["field"]) == (400, "subscribers")
    assert (subscribers(client), mail.addresses) == ([], [])
    mail.fails.append(UnavailableError("SNS does not answer"))
    assert send(client, "POST", ANN).status == 503
    assert subscribers(client) == []
    assert send(client, "POST", ANN).status == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"eventName": None}, "eventName"),
        ({"eventName": "Asset Birthday"}, "eventName"),
        ({"entityName": "Database"}, "entityName"),
        ({"entityId": None}, "entityId"),
        ({"entityId": "a/b"}, "entityId"),
        ({"subscribers": None}, "subscribers"),
        ({"subscribers": []}, "subscribers"),
        ({"subscribers": ANN}, "subscribers"),
        ({"subscribers": [ANN, ANN]}, "subscribers"),
        ({"subscribers": ["a b"]}, "subscribers.0"),
        ({"subscribers": [f"u{n}@x.org" for n in range(51)]}, "subscribers"),
    ],
)
def test_a_wrong_subscription_is_refused_by_field(
    client: Client, changes: dict[str, object], field: str
) -> None:
    body = {**BODY, "subscribers": [ANN], **changes}
    body = {name: value for name, value in body.items() if value is not None}
    for method, path in (
        ("POST", "/subscriptions"),
        ("PUT", "/subscriptions"),
        ("DELETE", "/subscriptions"),
        ("DELETE", "/unsubscribe"),
    ):
        answer = client.send(method, path, body=body)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_who_is_notified_of_an_archived_asset_may_leave_and_no_one_may_join(
    client: Client, tables: Tables, service: SubscriptionService
) -> None:
    send(client, "POST", ANN, BOB)
    archive(tables)
    stranger = Client(build_router(service), user_id="stranger", authorization=AllButStrangers())
    assert send(stranger, "DELETE", ANN, path="/unsubscribe").status == 404
    assert send(client, "DELETE", "eve@example.org", path="/unsubscribe").status == 404
    assert send(client, "DELETE", ANN, path="/unsubscribe").body == {"message": "success"}
    row = service.subscriptions.get("statue")
    assert row is not None
    assert row.subscribers == [BOB]
    for method in ("POST", "PUT", "DELETE"):
        answer = send(client, method, "eve@example.org")
        assert (answer.status, answer.body["code"]) == (404, "AssetNotFound")
    assert send(client, "DELETE", BOB, path="/unsubscribe").status == 200
    assert service.subscriptions.get("statue") is None


def test_who_may_only_see_an_asset_takes_no_one_from_it_archived_or_not(
    client: Client, tables: Tables, service: SubscriptionService
) -> None:
    class Readers(AllButStrangers):
        def may(self, caller: Identity, action: Action, target: Secured) -> bool:
            return action == "GET"

    send(client, "POST", ANN)
    service_for_readers = replace(service, assets=replace(service.assets, authorization=Readers()))
    reader = Client(
        build_router(service_for_readers), user_id="ann", authorization=AllButStrangers()
    )
    assert send(reader, "DELETE", ANN, path="/unsubscribe").status == 403
    archive(tables)
    assert send(reader, "DELETE", ANN, path="/unsubscribe").status == 403


def test_a_list_shows_visible_assets_only_and_rows_of_another_product(
    client: Client, tables: Tables, service: SubscriptionService
) -> None:
    for asset_id in ("gone", "statue"):
        row = {
            "eventName": "Asset Version Change",
            "entityName_entityId": f"Asset_{asset_id}",
            "subscribers": [ANN],
        }
        tables.write(Put(table=SUBSCRIPTIONS, item=row))
    assert subscribers(client) == [[ANN]]
    stranger = Client(build_router(service), user_id="stranger", authorization=AllButStrangers())
    assert subscribers(stranger) == []
    assert send(client, "POST", BOB).status == 200
    assert subscribers(client) == [[ANN, BOB]]


def test_each_change_has_its_entry(client: Client, tables: Tables) -> None:
    send(client, "POST", ANN)
    send(client, "PUT", BOB)
    send(client, "DELETE", BOB, path="/unsubscribe")
    result = [e for e in entries(tables) if e["entity"] == "subscription:Asset:statue"]
    changes = {e["operation"]: e["changes"]["subscribers"] for e in result}
    assert changes == {
        "create_subscription": {"after": [ANN]},
        "update_subscription": {"before": [ANN], "after": [BOB]},
        "unsubscribe": {"before": [BOB]},
    }


def done(operation: str = "update_asset", asset: str = "statue", user: str = "eve") -> Notification:
    return Notification("museum", asset, operation, user, "2026-03-01T12:00:00.000000Z")


def test_one_message_names_all_that_was_done_until_it_is_deleted(
    client: Client, notifier: Notifier, mail: RememberedNotifications, tables: Tables
) -> None:
    send(client, "POST", ANN, BOB)
    assert notifier.notify([done(), done("complete_upload"), done(asset="other")]) == 1
    ((to, subject, text),) = mail.sent
    assert to == {ANN, "bob@example.org"}
    assert subject == "Changed: A statue"
    assert "2026-03-01T12:00:00Z  update asset  by eve" in text
    assert "complete upload  by eve" in text
    send(client, "POST", ANN)
    tables.delete_many(ASSETS, [{"databaseId": "museum", "assetId": "statue"}])
    assert notifier.notify([done()]) == 0
    assert len(mail.sent) == 1


def test_who_may_not_see_the_asset_now_is_not_notified(
    tables: Tables, notifier: Notifier, mail: RememberedNotifications
) -> None:
    row = Subscription(
        event_name="Asset Version Change", key="Asset_statue", subscribers=["stranger", BOB]
    )
    tables.write(Put(table=USERS, item={"userId": "stranger", "email": "s@example.org"}))
    SubscriptionRepository(tables).put_new(row)
    notifier.notify([done()])
    assert [to for to, _, _ in mail.sent] == [{"bob@example.org"}]


@pytest.mark.parametrize("user", ["victim@example.org", "ian", "nobody"])
def test_no_one_subscribes_an_address_that_is_not_confirmed(
    client: Client, tables: Tables, mail: RememberedNotifications, user: str
) -> None:
    tables.write(Put(table=USERS, item={"userId": "ian", "email": "victim@example.org"}))
    answer = send(client, "POST", user)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "subscribers")
    send(client, "POST", BOB)
    assert send(client, "PUT", BOB, user).status == 400
    assert mail.addresses == ["bob@example.org"]


def test_a_caller_subscribes_a_limited_number_of_users_in_a_minute(
    service: SubscriptionService, mail: RememberedNotifications
) -> None:
    limited = replace(service, per_minute=lambda: 2)
    client = Client(build_router(limited), user_id="ann", authorization=AllButStrangers())
    assert send(client, "POST", ANN).status == 200
    assert send(client, "PUT", ANN, "guess-1", "guess-2").status == 429
    answer = send(client, "POST", BOB)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "60")
    assert send(client, "PUT", ANN).status == 200
    other = Client(build_router(limited), user_id="zoe", authorization=AllButStrangers())
    assert send(other, "POST", BOB).status == 200
    assert mail.addresses == [ANN, "bob@example.org"]


def test_callers_name_themselves_without_a_prefix(client: Client, tables: Tables) -> None:
    own = {"userId": "corp.ann", "email": ANN, "emailConfirmed": True}
    tables.write(Put(table=USERS, item=own))
    client = replace(client, user_id="corp.ann", subject="ann")
    assert [send(client, "POST", "ann").status for _ in range(2)] == [200, 409]
    assert check(client, "ann").body == {"message": "success"}
    assert send(client, "PUT", "ann", "corp.ann", BOB).status == 200
    assert subscribers(client) == [["corp.ann", BOB]]
    assert send(client, "DELETE", "ann", path="/unsubscribe").status == 200


ENTRY = {
    "entity": "asset:museum:statue",
    "operation": "update_asset",
    "userId": "ann",
    "at": "2026-03-01T12:00:00.000000Z#abcd",
}


def test_messages_are_of_assets_and_files_and_cut() -> None:
    expected = Notification(
        "museum", "statue", "update_asset", "ann", "2026-03-01T12:00:00.000000Z"
    )
    assert notification_of(ENTRY) == expected
    assert notification_of({**ENTRY, "entity": "file:museum:statue:/a:b/c.glb"}) == expected
    of_product = notification_of({**ENTRY, "userId": SYSTEM_PARTITIONS[-1]})
    assert of_product == expected._replace(user_id=SYSTEM.user_id)
    assert notification_of({**ENTRY, "operation": "create_asset"}) is None
    assert notification_of({**ENTRY, "entity": "execution:e1"}) is None
    happenings = [Notification("m", "s", f"operation_{n}", "ann", "2026") for n in range(60)]
    text = message_text("It", [*happenings, *happenings])
    assert text.count("operation") == 50
    assert text.endswith("and 10 more.\n")


@pytest.mark.parametrize(
    "changes", [{"entity": "tag:red"}, {"entity": "asset:museum"}, {"userId": None}, {"at": 5}]
)
def test_what_is_no_such_entry_is_an_error(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"asset|entry"):
        notification_of({**ENTRY, **changes})
