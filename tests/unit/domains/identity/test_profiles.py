"""Requests of callers about themselves: profiles, and the pages that they may see."""

from dataclasses import replace

import pytest

from backend.core.errors import PermissionDeniedError
from backend.core.identity import Identity
from backend.core.transactions import Put
from backend.domains.identity.models.sign_ins import CreateSignInBody, UpdateSignInBody
from backend.spec.tables.access import USERS
from tests.factories.access import stored_user_role
from tests.factories.administration import AccessServices, Parts, email_addresses
from tests.factories.audit import entries
from tests.factories.http import Client, Response
from tests.fakes.user_pool import MemoryUserPool


@pytest.fixture
def services(parts: Parts) -> AccessServices:
    return parts.services()


@pytest.fixture
def ann(services: AccessServices) -> Client:
    """A user without any role."""
    return Client(services.router(), user_id="ann")


def profile(
    client: Client, method: str = "GET", user: str = "ann", body: object = None
) -> Response:
    path = f"/auth/loginProfile/{user}"
    return client.send(method, path, parameters={"userId": user}, body=body)


def profile_reply(email: str | None) -> dict[str, object]:
    item = {"userId": "ann"} if email is None else {"userId": "ann", "email": email}
    return {"message": {"Items": [item]}}


def test_a_user_without_roles_keeps_its_own_profile(ann: Client, parts: Parts) -> None:
    assert profile(ann).body == profile_reply(None)
    assert parts.tables.get(USERS, {"userId": "ann"}) is None
    assert profile(ann, "POST", body={"email": "ann@example.org"}).body == profile_reply(
        "ann@example.org"
    )
    assert profile(ann).body == profile_reply("ann@example.org")
    # Without an address, what is stored stays; the same again is no change.
    assert profile(ann, "POST").body == profile_reply("ann@example.org")
    assert profile(ann, "POST", body={}).body == profile_reply("ann@example.org")
    assert [entry["entity"] for entry in entries(parts.tables)] == ["user:ann"]
    item = parts.tables.get(USERS, {"userId": "ann"}) or {}
    assert item["createdOn"] == "2026-03-01T12:00:00.000000Z"


def test_attributes_of_another_product_are_kept(ann: Client, parts: Parts) -> None:
    assert profile(ann, "POST").body == profile_reply(None)
    assert profile(ann).body == profile_reply(None)
    parts.tables.write(Put(table=USERS, item={"userId": "ann", "email": "a@x.org", "team": "blue"}))
    profile(ann, "POST", body={"email": "b@x.org"})
    item = parts.tables.get(USERS, {"userId": "ann"}) or {}
    assert (item["email"], item["team"]) == ("b@x.org", "blue")


def test_other_profiles_are_closed_and_pages_listed(ann: Client, services: AccessServices) -> None:
    admin = Client(services.router(), user_id="admin")
    for client, user in ((ann, "bob"), (admin, "ann")):
        for method in ("GET", "POST"):
            assert profile(client, method, user=user).status == 403
    pages = [{"method": "GET", "route__path": path} for path in ("/assets", "/auth/roles")]
    body = {"routes": pages}
    admin = Client(services.router(), user_id="admin")
    allowed = [{**page, "object__type": "web"} for page in pages]
    assert admin.send("POST", "/auth/routes", body=body).body == {
        "allowedRoutes": allowed,
        "email": "admin",
    }
    assert ann.send("POST", "/auth/routes", body=body).body == {
        "allowedRoutes": [],
        "email": "ann",
    }


@pytest.mark.parametrize("email", ["ann", "ann@", "@x.org", "a b@x.org", "a@x", "a@x..org", 5])
def test_what_is_no_address_is_refused(ann: Client, email: object) -> None:
    answer = profile(ann, "POST", body={"email": email})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "email")
    assert profile(ann).body == profile_reply(None)


def test_profiles_follow_the_credentials_of_the_caller(services: AccessServices) -> None:
    signed_in = Identity("idp-00u1", email="ann@idp.example", subject="00u1")
    assert services.profiles.get_profile(signed_in, "00u1").email == "ann@idp.example"
    assert services.profiles.store_profile(signed_in, "00u1", email=None).user_id == "idp-00u1"
    with pytest.raises(PermissionDeniedError):
        services.profiles.get_profile(Identity("idp-00u2", subject="00u2"), "00u1")
    signed_in = Identity("ann", email="ann@idp.example")
    kept = services.profiles.store_profile(signed_in, "ann", email="other@example.org")
    assert kept.email == "ann@idp.example"
    odd = Identity("ann", email="no address")
    assert services.profiles.store_profile(odd, "ann", email=None).email == "ann@idp.example"


@pytest.mark.parametrize(
    ("routes", "field"),
    [
        (None, "routes"),
        ("all", "routes"),
        ([{"method": "GET"}], "routes.0.route__path"),
        ([{"method": "LOOK", "route__path": "/x"}], "routes.0.method"),
        ([{"method": "GET", "route__path": ""}], "routes.0.route__path"),
        ([{"method": "GET", "route__path": "/x"}] * 1001, "routes"),
    ],
)
def test_wrong_pages_are_refused_by_field(ann: Client, routes: object, field: str) -> None:
    answer = ann.send("POST", "/auth/routes", body={"routes": routes})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_mail_goes_to_a_confirmed_address_or_to_a_user_id_that_is_one(parts: Parts) -> None:
    for user, email in (("ann", "ann@x.org"), ("bob@x.org", ""), ("eve", "eve"), ("max", None)):
        item = {"userId": user} if email is None else {"userId": user, "email": email}
        parts.tables.write(Put(table=USERS, item={**item, "emailConfirmed": True}))
    parts.tables.write(Put(table=USERS, item={"userId": "ian", "email": "victim@x.org"}))
    stored_user_role(parts.tables, user_id="zoe@x.org")
    addresses = email_addresses(parts.tables)
    users = ["ann", "bob@x.org", "eve", "max", "ian", "zoe@x.org", "nobody", "ann"]
    ann, zoe = {"ann": "ann@x.org"}, {"zoe@x.org": "zoe@x.org"}
    assert addresses.of_users(users) == {**ann, **zoe, "bob@x.org": "bob@x.org"}
    assert addresses.of_known_users(users) == {**ann, **zoe}


def test_addresses_are_confirmed_by_credentials_and_administrators(parts: Parts) -> None:
    profiles = parts.services().profiles
    signed_in = Identity("ann", email="ann@x.org")

    def confirmed(caller: Identity, email: str | None = None) -> bool | None:
        return profiles.store_profile(caller, "ann", email=email).email_confirmed

    assert confirmed(Identity("ann"), "victim@x.org") is False
    assert confirmed(signed_in) is True
    assert confirmed(Identity("ann")) is True
    assert confirmed(Identity("ann"), "ann@x.org") is True
    assert confirmed(Identity("ann"), "victim@x.org") is False
    users = replace(parts, pool=MemoryUserPool()).services().users
    addresses = email_addresses(parts.tables)
    admin = Identity("admin")
    users.create_user(admin, CreateSignInBody(user_id="ann", email="ann@x.org"))
    assert addresses.of_known_users(["ann"]) == {"ann": "ann@x.org"}
    users.update_user(admin, "ann", UpdateSignInBody(email="new@x.org"))
    assert addresses.of_known_users(["ann"]) == {"ann": "new@x.org"}
