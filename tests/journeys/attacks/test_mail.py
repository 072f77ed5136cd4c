"""Subscriptions cannot be used to send e-mail to strangers."""

from uuid import uuid4

from tests.journeys.attacks.actors import ANY_ROUTE, new_role
from tests.journeys.runtime import Runtime
from tests.journeys.test_administration import rule_of


def test_only_confirmed_addresses_of_known_users_are_subscribed(
    runtime: Runtime, database: str
) -> None:
    admin = runtime.client()
    asset = admin.new_asset(database, "A statue")
    role = new_role(admin, ANY_ROUTE, ("asset", "databaseId", "equals", database))
    sender, known, named = (f"mail-{uuid4().hex[:8]}@example.org" for _ in range(3))
    for user in (sender, known):
        admin.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})
    key = {"apiKeyName": "Own", "description": "Its own", "userId": sender}
    own = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
    own.ok("POST", f"/auth/loginProfile/{sender}", {"email": "victim@example.org"})
    plain = f"plain-{uuid4().hex[:8]}"
    admin.ok("POST", "/user-roles", {"userId": plain, "roleName": [role]})
    key = {"apiKeyName": "Own", "description": "Its own", "userId": plain}
    other = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
    other.ok("POST", f"/auth/loginProfile/{plain}", {"email": "victim@example.org"})

    own.ok("POST", "/subscriptions", rule_of(asset, known))
    for user in (named, plain, "nobody"):
        status, body = own.refused("POST", "/subscriptions", rule_of(asset, user))
        assert (status, body["errors"][0]["field"]) == (400, "subscribers")
    guesses = [f"guess-{number}@example.org" for number in range(50)]
    refused = {own.send("POST", "/subscriptions", rule_of(asset, *guesses)) for _ in range(4)}
    limited = [answer for answer in refused if answer.status_code == 429]
    assert {answer.status_code for answer in refused} <= {400, 429}
    assert limited
    assert 0 < int(limited[0].headers["Retry-After"]) <= 60
    for user in (sender, known, plain):
        admin.ok("DELETE", "/user-roles", {"userId": user})
