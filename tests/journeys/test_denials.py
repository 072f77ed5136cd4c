"""Refused requests are in the audit log, which only administrators may read."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from backend.spec.routes import ROUTES, Route
from tests.journeys.runtime import PATIENCE_SECONDS, Api, Runtime, wait_until

SOME_SECONDS = 3
"""Maximum time until rules apply in every process; few entries are written per user and minute."""


def one_route_a_function() -> list[Route]:
    """A route of each function that a caller without permissions may not use."""
    first: dict[str, Route] = {}
    for route in ROUTES:
        if not (route.public or route.open_to_users or route.method == "HEAD"):
            first.setdefault(route.domain, route)
    return list(first.values())


def new_role(api: Api) -> str:
    role = f"role-{uuid4().hex[:8]}"
    api.ok("POST", "/roles", {"roleName": role, "description": "Looks around"})
    return role


def user_of(runtime: Runtime, role: str) -> tuple[str, Api]:
    api, user = runtime.client(), f"user-{uuid4().hex[:8]}"
    api.ok("POST", "/user-roles", {"userId": user, "roleName": [role]})
    body = {"apiKeyName": "Own", "userId": user, "description": "Its own"}
    return user, runtime.client(api.ok("POST", "/auth/api-keys", body)["apiKey"])


def refusals_of(api: Api, **query: str) -> list[dict[str, Any]]:
    items = api.ok("GET", "/audit", params=query)["Items"]
    return [item for item in items if "denied" in item]


def test_every_function_enters_whom_it_keeps_out(runtime: Runtime) -> None:
    api = runtime.client()
    user, own = user_of(runtime, new_role(api))
    wanted = one_route_a_function()

    def send(route: Route) -> int:
        path = route.path.replace("{proxy+}", "a.txt").replace("{", "").replace("}", "")
        status = 503
        for _ in range(20):  # time for a function that starts for the first time on a busy machine
            status = own.send(route.method, path).status_code
            if status != 503:
                break
        return status

    def denied_routes() -> set[str]:
        return {one["denied"]["route"] for one in refusals_of(api, userId=user)}

    # Again if an entry is missing: a busy machine may not have written it within its two seconds.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while missing := [route for route in wanted if route.key not in denied_routes()]:
        assert time.monotonic() < deadline, missing
        with ThreadPoolExecutor(2) as threads:
            assert set(threads.map(send, missing)) == {403}
        if {route.key for route in missing} - denied_routes():
            time.sleep(SOME_SECONDS)
    assert all(one["denied"]["refusal"] == "route" for one in refusals_of(api, userId=user))
    assert own.refused("GET", "/audit", params={"userId": user})[0] == 403


def test_a_refusal_of_a_hidden_object_is_recorded_with_its_name(
    runtime: Runtime, database: str
) -> None:
    api = runtime.client()
    role = new_role(api)
    anything = {"field": "route__path", "operator": "contains", "value": ".*"}
    rule = {
        "name": "Use the API",
        "description": "All routes, and no object",
        "objectType": "api",
        "criteriaAnd": [anything],
        "groupPermissions": [{"groupId": role, "permission": "GET", "permissionType": "allow"}],
    }
    api.ok("POST", f"/auth/constraints/api-{uuid4().hex[:8]}", rule)
    user, own = user_of(runtime, role)
    asset = api.new_asset(database, "Hidden")
    there, nowhere = (f"/database/{database}/assets/{one}" for one in (asset, "nowhere"))
    wait_until(lambda: own.send("GET", "/tags").status_code == 200)
    named = f"denial:asset:{database}:{asset}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        answers = [own.send("GET", there), own.send("GET", nowhere)]
        known = {answer.status_code for answer in answers} == {404}
        if known and refusals_of(api, entity=named):
            break
        assert time.monotonic() < deadline, [answer.text for answer in answers]
        time.sleep(SOME_SECONDS)
    hidden, absent = (answer.json() for answer in answers)
    assert hidden["code"] == absent["code"]
    assert hidden["message"].replace(asset, "nowhere") == absent["message"]
    (entry, *_) = refusals_of(api, entity=named)
    assert entry["userId"] == user
    assert (entry["denied"]["refusal"], entry["operation"]) == ("invisible", "get_asset")
    nothing = refusals_of(api, entity=f"denial:asset:{database}:nowhere")
    assert [
        one["denied"]["refusal"] for one in nothing if one["denied"]["refusal"] != "route"
    ] == []
