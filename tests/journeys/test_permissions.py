"""Constraints, what a user sees under them, recorded denials, and logs without keys."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.spec.routes import ROUTES, Route
from tests.factories.identity_provider import encoded
from tests.journeys.canaries import found_in, leaks, plant, planted, secrets_of
from tests.journeys.runtime import PATIENCE_SECONDS, Api, Runtime, wait_for, wait_until

# Functions read the rules every two seconds.
GONE_SECONDS = 5
"""The contract's maximum time until a revoked right has no effect."""


def unique(word: str) -> str:
    return f"{word}-{uuid4().hex[:8]}"


class World:
    """A viewer of one of two databases; one asset there has a tag that is hidden from viewers."""

    def __init__(self, runtime: Runtime) -> None:
        self.admin = admin = runtime.client()
        self.role, self.user = unique("role"), unique("user")
        self.own, self.foreign = (admin.new_database(unique("db")) for _ in range(2))
        self.tag = unique("tag")
        kind = {"tagTypeName": unique("kind"), "description": "Whether viewers see it"}
        admin.ok("POST", "/tag-types", kind)
        tag = {"tagName": self.tag, "tagTypeName": kind["tagTypeName"], "description": "Hidden"}
        admin.ok("POST", "/tags", tag)
        self.seen = admin.new_asset(self.own, "Seen pump")
        self.hidden = admin.new_asset(self.own, "Hidden pump", tags=[self.tag])
        self.elsewhere = admin.new_asset(self.foreign, "Foreign pump")
        for database, asset in (
            (self.own, self.seen),
            (self.own, self.hidden),
            (self.foreign, self.elsewhere),
        ):
            admin.upload(database, asset, {"/pump.glb": [b"glTF"]})
        admin.ok("POST", "/roles", {"roleName": self.role, "description": "Looks around"})
        self.give(admin)
        admin.ok("POST", "/user-roles", {"userId": self.user, "roleName": [self.role]})
        key = {"apiKeyName": "Own", "userId": self.user, "description": "Its own"}
        self.viewer = runtime.client(admin.ok("POST", "/auth/api-keys", key)["apiKey"])
        for database, documents in ((self.own, 4), (self.foreign, 2)):
            wait_for(lambda name=database: len(admin.search(databaseId=name)), documents)

    def give(self, admin: Api) -> None:
        templates = {
            item["template"]["name"]: item
            for item in admin.ok("GET", "/auth/constraintsTemplates")["Items"]
        }
        values = {"ROLE_NAME": self.role, "DATABASE_ID": self.own}
        admin.ok(
            "POST",
            "/auth/constraintsTemplateImport",
            {**templates["database-readonly"], "variableValues": values},
        )
        tagged = self.denied([{"field": "tags", "operator": "equals", "value": self.tag}])
        admin.ok("POST", f"/auth/constraints/{unique('deny')}", tagged)

    def denied(self, criteria: list[dict[str, str]]) -> dict[str, Any]:
        """A constraint that hides objects with these criteria from viewers."""
        return {
            "name": "Hidden",
            "description": "Keeps something from viewers",
            "objectType": "asset",
            "criteriaAnd": criteria,
            "groupPermissions": [
                {"groupId": self.role, "permission": "GET", "permissionType": "deny"}
            ],
        }


@pytest.fixture(scope="module")
def world(runtime: Runtime) -> World:
    return World(runtime)


def found(api: Api, **body: Any) -> set[str]:
    return {item["str_assetid"] for item in api.search(query="pump", **body)}


def test_lists_and_single_reads_return_the_objects_that_rules_allow(world: World) -> None:
    viewer = world.viewer
    databases = viewer.ok("GET", "/database")["Items"]
    assert {database["databaseId"] for database in databases} == {world.own}
    listed = viewer.ok("GET", f"/database/{world.own}/assets")["Items"]
    assert {item["assetId"] for item in listed} == {world.seen}
    everywhere = viewer.ok("GET", "/assets")["Items"]
    assert {item["assetId"] for item in everywhere} == {world.seen}
    assert viewer.ok("GET", f"/database/{world.own}/assets/{world.seen}")


def test_absent_and_invisible_look_the_same(world: World) -> None:
    for path in ("", "/listFiles", "/getVersions", "/metadata", "/asset-links"):
        status, hidden = world.viewer.refused(
            "GET", f"/database/{world.own}/assets/{world.hidden}{path}"
        )
        absent = world.viewer.refused("GET", f"/database/{world.own}/assets/none-such{path}")
        assert status == absent[0] == 404
        result = hidden["message"].replace(world.hidden, "none-such")
        assert result == absent[1]["message"]


def test_a_search_and_its_counts_know_of_nothing_else(world: World) -> None:
    assert {world.seen, world.hidden} <= found(world.admin, databaseId=world.own)
    assert found(world.viewer) == {world.seen}
    body = {"query": "pump", "aggregations": True, "size": 100}
    reply = world.viewer.ok("POST", "/search", body)
    assert reply["hits"]["total"]["value"] == 2  # the asset and its file
    facets = reply["aggregations"]
    assert [
        bucket["key"] for bucket in facets["str_databaseid"]["filtered_databaseid"]["buckets"]
    ] == [world.own]
    assert facets["list_tags"]["filtered_tags"]["buckets"] == []


def test_a_visible_object_cannot_be_changed_without_permission(world: World) -> None:
    path = f"/database/{world.own}/assets/{world.seen}"
    assert world.viewer.refused("PUT", path, {"description": "Mine"})[0] == 403
    assert world.viewer.refused("GET", "/auth/explain")[0] == 403


def test_an_administrator_receives_the_reason(world: World) -> None:
    query = {"userId": world.user, "action": "GET", "objectType": "asset", "databaseId": world.own}
    reply = world.admin.ok("GET", "/auth/explain", params=query)
    assert (reply["tier2"]["decision"], reply["roles"]) == ("allow", [world.role])
    reply = world.admin.ok("GET", "/auth/explain", params={**query, "tags": world.tag})
    assert reply["tier2"]["decision"] == "deny"
    assert reply["tier2"]["by"][0]["givenTo"] == f"role#{world.role}"
    request = {"method": "GET", "route": f"/database/{world.own}/assets/{world.seen}"}
    reply = world.admin.ok("GET", "/auth/explain", params={"userId": world.user, **request})
    assert (reply["tier1"]["decision"], reply["tier2"]["decision"]) == ("allow", "allow")


def test_a_denial_takes_effect_in_all_functions(world: World) -> None:
    asset = f"/database/{world.own}/assets/{world.seen}"
    facets = {"query": "pump", "aggregations": True}

    def shown() -> tuple[int, int, set[str], int]:
        return (
            len(world.viewer.ok("GET", f"/database/{world.own}/assets")["Items"]),
            world.viewer.send("GET", f"{asset}/listFiles").status_code,
            found(world.viewer),
            world.viewer.ok("POST", "/search", facets)["aggregationTotal"],
        )

    assert shown() == (1, 200, {world.seen}, 2)
    denial = f"/auth/constraints/{unique('deny')}"
    named = [{"field": "assetName", "operator": "starts_with", "value": "Seen"}]
    world.admin.ok("POST", denial, world.denied(named))
    # No document was rebuilt: the index is unchanged.
    wait_until(lambda: shown() == (0, 404, set(), 0), seconds=GONE_SECONDS)
    world.admin.ok("DELETE", denial)
    wait_until(lambda: shown() == (1, 200, {world.seen}, 2), seconds=GONE_SECONDS)


def test_a_role_that_was_taken_away_has_no_effect_in_any_function(world: World) -> None:
    asset = f"/database/{world.own}/assets/{world.seen}"
    requests = [
        lambda: world.viewer.send("GET", "/database").status_code,
        lambda: world.viewer.send("GET", asset).status_code,
        lambda: world.viewer.send("GET", f"{asset}/listFiles").status_code,
        lambda: world.viewer.send("POST", "/search", {"query": "pump"}).status_code,
    ]
    assert {send() for send in requests} == {200}
    world.admin.ok("DELETE", "/user-roles", {"userId": world.user})
    wait_until(lambda: {send() for send in requests} == {403}, seconds=GONE_SECONDS)


SOME_SECONDS = 3
"""Maximum time until rules apply in every process; few entries are written per user and minute."""


def one_route_a_function() -> list[Route]:
    """A route of each function that a caller without permissions may not use."""
    first: dict[str, Route] = {}
    for route in ROUTES:
        if not (route.public or route.open_to_users or route.method == "HEAD"):
            first.setdefault(route.domain, route)
    return list(first.values())


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
        return {refusal["denied"]["route"] for refusal in refusals_of(api, userId=user)}

    # Again if an entry is missing: a busy machine may not have written it within its two seconds.
    deadline = time.monotonic() + PATIENCE_SECONDS
    while missing := [route for route in wanted if route.key not in denied_routes()]:
        assert time.monotonic() < deadline, missing
        with ThreadPoolExecutor(2) as threads:
            assert set(threads.map(send, missing)) == {403}
        if {route.key for route in missing} - denied_routes():
            time.sleep(SOME_SECONDS)
    assert all(refusal["denied"]["refusal"] == "route" for refusal in refusals_of(api, userId=user))
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
    there, nowhere = (f"/database/{database}/assets/{item}" for item in (asset, "nowhere"))
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
        item["denied"]["refusal"] for item in nothing if item["denied"]["refusal"] != "route"
    ] == []


KEY = "vams_" + "canary-" * 8
TOKEN = ".".join([encoded({"alg": "RS256", "kid": "c"}), encoded({"sub": "canary"}), "c2ln" * 8])
SIGNED = "https://bucket.example/key?X-Amz-Signature=" + "ca" * 32
SECRETS = {"key": KEY, "token": TOKEN, "url": SIGNED}


@pytest.mark.parametrize("name", SECRETS)
def test_a_log_with_a_secret_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "functions").mkdir()
    log = tmp_path / "functions" / "Api.log"
    log.write_text(f'quiet\n{{"message": "{SECRETS[name]}"}}\n')
    assert len(leaks(tmp_path, [])) == 1
    log.write_text("quiet\n")
    assert leaks(tmp_path, []) == []


def test_a_secret_of_no_known_form_is_found(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "runner.log").write_text("the pepper is " + "p" * 32)
    assert leaks(tmp_path, []) == []
    assert leaks(tmp_path, ["p" * 32]) == ["runner.log:1: pppppppppppp…"]


def test_a_part_of_a_reply_in_a_log_is_found(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    # of this test only; those of other tests of the process are found, too
    signature = uuid4().hex * 2
    (tmp_path / "functions" / "Api.log").write_text(f"signed with {signature}")
    assert leaks(tmp_path, []) == []
    plant(f"https://bucket.example/key?X-Amz-Signature={signature}&x=1")
    assert leaks(tmp_path, []) == [f"Api.log:1: {signature[:12]}…"]


def test_secrets_sent_in_odd_places_are_in_no_log(runtime: Runtime, database: str) -> None:
    """The rest of the suite's secrets are searched for when it has ended."""
    api = runtime.client()
    for secret in SECRETS.values():
        plant(secret)
        _send_everywhere(runtime, api, database, secret)
    asset = api.new_asset(database, "with a file")
    api.upload(database, asset, {"/a.txt": [b"text"]})
    path = f"/database/{database}/assets/{asset}"
    api.ok("POST", f"{path}/download", {"downloadType": "assetFile", "key": "/a.txt"})
    signatures = {item for item in planted if re.fullmatch("[0-9a-f]{64}", item)}
    assert len(signatures) > 1, "those of the upload are not planted"
    secrets = secrets_of(runtime.state)
    assert len(secrets) >= 3
    assert leaks(runtime.state / "logs", secrets) == []
    runtime.drain()
    trail = api.send("GET", "/audit", params={"entity": f"asset:{database}:{asset}"}).text
    assert asset in trail
    assert found_in(trail) == set()


def _send_everywhere(runtime: Runtime, api: Api, database: str, secret: str) -> None:
    for header in (secret, f"Bearer {secret}", f"Basic {secret}", f"{secret},{secret}"):
        assert runtime.client(header).refused("GET", "/database")[0] == 403
    body: dict[str, Any] = {"databaseId": secret, "description": secret, secret: secret}
    for path in ("/database", "/assets", "/auth/api-keys", "/uploads", "/search", "/tags"):
        api.send("POST", path, {**body, "assetName": {"secret": secret}})
        api.send("GET", path, params={"startingToken": secret, "maxItems": secret})
    api.send("POST", "/database", content=secret, headers={"Content-Type": "application/json"})
    api.send("GET", f"/database/{database}", headers={"If-Match": secret, "Cookie": secret})


def new_role(api: Api) -> str:
    name = unique("role")
    api.ok("POST", "/roles", {"roleName": name, "description": "Looks around"})
    return name


def constraint(role: str, **other: Any) -> dict[str, Any]:
    return {
        "name": "See",
        "description": "Assets of the museum",
        "objectType": "asset",
        "criteriaAnd": [{"field": "databaseId", "operator": "equals", "value": "museum"}],
        "groupPermissions": [{"groupId": role, "permission": "GET", "permissionType": "allow"}],
        **other,
    }


def listed(api: Api, role: str) -> set[str]:
    """The constraints that apply to a role, by the list of all."""
    result: set[str] = set()
    token: dict[str, str] = {}
    while True:
        page = api.ok("GET", "/auth/constraints", params={"pageSize": "20", **token})
        assert page["message"]["Items"] == page["Items"]
        for item in page["Items"]:
            if any(permission["groupId"] == role for permission in item["groupPermissions"]):
                result.add(item["constraintId"])
        if "NextToken" not in page:
            return result
        token = {"startingToken": page["NextToken"]}


def test_objects_of_the_deployment_can_be_saved_unchanged(runtime: Runtime) -> None:
    """Names in replies follow the rules for names: the web application of VAMS sends them back."""
    api = runtime.client()
    shipped = api.ok("GET", "/auth/constraints", params={"pageSize": "100"})["Items"]
    constraints = [
        element for element in shipped if element["constraintId"].startswith("vitrine-admin-")
    ]
    assert len(constraints) > 5
    for item in constraints:
        api.ok("POST", f"/auth/constraints/{item['constraintId']}", item)
    for kind in ("pipelines", "workflows"):
        items = api.ok("GET", f"/database/GLOBAL/{kind}")["message"]["Items"]
        kept = [
            element for element in items if f"{element[f'{kind[:-1]}Id']}".startswith("vitrine-")
        ]
        assert kept
        for item in kept:
            api.ok("PUT", f"/{kind}", item)


def test_a_constraint_is_made_changed_listed_and_deleted(runtime: Runtime) -> None:
    api = runtime.client()
    role, name = new_role(api), unique("see")
    path = f"/auth/constraints/{name}"
    made = api.ok("POST", path, constraint(role))
    assert (made["constraintId"], made["operation"]) == (name, "create")
    assert api.ok("PUT", path, constraint(role, name="Seeing"))["operation"] == "update"
    result = api.ok("GET", path)
    assert (result["name"], result["constraint"]["name"]) == ("Seeing", "Seeing")
    assert listed(api, role) == {name}
    assert api.ok("DELETE", path)["operation"] == "delete"
    assert api.refused("GET", path)[0] == 404
    reply = api.ok("GET", "/audit", params={"entity": f"constraint:{name}"})["Items"]
    assert [entry["operation"] for entry in reply] == [
        "delete_constraint",
        "update_constraint",
        "create_constraint",
    ]


def test_constraints_written_at_once_are_all_there_and_go_with_their_role(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    role = new_role(api)
    names = {unique("see") for _ in range(6)}

    def write(name: str, edit: int) -> None:
        api.ok("PUT", f"/auth/constraints/{name}", constraint(role, name=f"See {edit}"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(partial(write, edit=1), sorted(names)))
    assert listed(api, role) == names
    api.ok("DELETE", f"/roles/{role}")
    gone = f"/auth/constraints/{min(names)}"
    wait_for(lambda: api.send("GET", gone).status_code, 404)


def test_standard_templates_are_applied_and_applied_again(runtime: Runtime) -> None:
    api = runtime.client()
    role = new_role(api)
    known = {
        item["template"]["name"]: item
        for item in api.ok("GET", "/auth/constraintsTemplates")["Items"]
    }
    values = {"ROLE_NAME": role, "DATABASE_ID": "museum"}
    body = {**known["database-readonly"], "variableValues": values}
    done = api.ok("POST", "/auth/constraintsTemplateImport", body)
    assert done["constraintsCreated"] == len(body["constraints"]) == len(done["constraintIds"])
    again = api.ok("POST", "/auth/constraintsTemplateImport", body)
    assert again["constraintIds"] == done["constraintIds"]
    assert listed(api, role) == set(done["constraintIds"])


def test_a_role_in_many_constraints_leaves_them_by_a_job(runtime: Runtime) -> None:
    api = runtime.client()
    role, other = new_role(api), new_role(api)
    piece = {**constraint(role), "groupPermissions": [{"action": "GET", "type": "allow"}]}
    body = {"variableValues": {"ROLE_NAME": role}, "constraints": [piece] * 21}
    names = api.ok("POST", "/auth/constraintsTemplateImport", body)["constraintIds"]
    shared = unique("see")
    value = [*constraint(role)["groupPermissions"], *constraint(other)["groupPermissions"]]
    api.ok("PUT", f"/auth/constraints/{shared}", constraint(role, groupPermissions=value))
    job_id = api.ok("DELETE", f"/roles/{role}")["jobId"]
    job = api.ended(job_id)
    assert (job["state"], job["problems"]) == ("done", [])
    assert api.refused("GET", f"/auth/constraints/{names[0]}")[0] == 404
    left = api.ok("GET", f"/auth/constraints/{shared}")["groupPermissions"]
    assert [item["groupId"] for item in left] == [other]
