"""A help desk may administer only users whose roles it may assign, and cannot take over users."""

from tests.journeys.attacks.actors import (
    ANY_ROUTE,
    connect,
    give_rule,
    new_role,
    new_user,
    permissions,
)
from tests.journeys.runtime import Api, Runtime


def roles_of(admin: Api, user: str) -> list[str]:
    items = admin.ok("GET", "/user-roles")["Items"]
    return {item["userId"]: item["roleName"] for item in items}.get(user, [])


def test_a_help_desk_cannot_change_users_with_more_permissions(runtime: Runtime) -> None:
    admin = runtime.client()
    keeper, viewer, guest = new_role(admin), new_role(admin), new_role(admin)
    others = ("userRole", "roleName", "is_not_one_of", ["admin", keeper])
    desk = connect(runtime, new_user(admin, new_role(admin, ANY_ROUTE, others)))
    plain, both, ruled = (
        new_user(admin, viewer),
        new_user(admin, viewer, keeper),
        new_user(admin, viewer),
    )
    everything = ("asset", "databaseId", "contains", ".*")
    rule = give_rule(admin, everything, userPermissions=permissions("userId", ruled))
    for victim in (both, ruled):
        before = roles_of(admin, victim)
        for method, body in (
            ("POST", {"userId": victim, "roleName": [guest]}),
            ("PUT", {"userId": victim, "roleName": [*before, guest]}),
            ("PUT", {"userId": victim, "roleName": [guest]}),
            ("DELETE", {"userId": victim}),
        ):
            status, reply = desk.refused(method, "/user-roles", body)
            assert (status, reply["code"]) == (403, "PermissionDenied")
        key = {"apiKeyName": "Taken", "userId": victim, "description": "Of an attack"}
        assert desk.refused("POST", "/auth/api-keys", key)[0] == 403
        assert desk.refused("GET", f"/auth/loginProfile/{victim}")[0] == 403
        assert roles_of(admin, victim) == before
    desk.ok("POST", "/user-roles", {"userId": plain, "roleName": [guest]})
    desk.ok("PUT", "/user-roles", {"userId": plain, "roleName": [guest]})
    desk.ok("DELETE", "/user-roles", {"userId": plain})
    admin.ok("DELETE", f"/auth/constraints/{rule}")
    desk.ok("PUT", "/user-roles", {"userId": ruled, "roleName": [guest]})
