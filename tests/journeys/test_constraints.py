"""Constraints and templates over HTTP, as administrators write them."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, wait_for


def unique(word: str) -> str:
    return f"{word}-{uuid4().hex[:8]}"


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
    found: set[str] = set()
    token: dict[str, str] = {}
    while True:
        page = api.ok("GET", "/auth/constraints", params={"pageSize": "20", **token})
        assert page["message"]["Items"] == page["Items"]
        for each in page["Items"]:
            if any(given["groupId"] == role for given in each["groupPermissions"]):
                found.add(each["constraintId"])
        if "NextToken" not in page:
            return found
        token = {"startingToken": page["NextToken"]}


def test_objects_of_the_deployment_can_be_saved_unchanged(runtime: Runtime) -> None:
    """Names in replies follow the rules for names: the web application of VAMS sends them back."""
    api = runtime.client()
    shipped = api.ok("GET", "/auth/constraints", params={"pageSize": "100"})["Items"]
    constraints = [one for one in shipped if one["constraintId"].startswith("vitrine-admin-")]
    assert len(constraints) > 5
    for one in constraints:
        api.ok("POST", f"/auth/constraints/{one['constraintId']}", one)
    for kind in ("pipelines", "workflows"):
        items = api.ok("GET", f"/database/GLOBAL/{kind}")["message"]["Items"]
        kept = [one for one in items if f"{one[f'{kind[:-1]}Id']}".startswith("vitrine-")]
        assert kept
        for one in kept:
            api.ok("PUT", f"/{kind}", one)


def test_a_constraint_is_made_changed_listed_and_deleted(runtime: Runtime) -> None:
    api = runtime.client()
    role, name = new_role(api), unique("see")
    path = f"/auth/constraints/{name}"
    made = api.ok("POST", path, constraint(role))
    assert (made["constraintId"], made["operation"]) == (name, "create")
    assert api.ok("PUT", path, constraint(role, name="Seeing"))["operation"] == "update"
    found = api.ok("GET", path)
    assert (found["name"], found["constraint"]["name"]) == ("Seeing", "Seeing")
    assert listed(api, role) == {name}
    wrong = constraint(role, criteriaAnd=[{"field": "who", "operator": "is", "value": ""}])
    status, error = api.refused("PUT", path, wrong)
    fields = {each["field"] for each in error["errors"]}
    assert (status, fields) == (
        400,
        {f"criteriaAnd.0.{name}" for name in ("field", "operator", "value")},
    )
    status, error = api.refused("PUT", path, constraint("ghost"))
    assert (status, "role ghost does not exist" in error["message"]) == (400, True)
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
        each["template"]["name"]: each
        for each in api.ok("GET", "/auth/constraintsTemplates")["Items"]
    }
    values = {"ROLE_NAME": role, "DATABASE_ID": "museum"}
    body = {**known["database-readonly"], "variableValues": values}
    done = api.ok("POST", "/auth/constraintsTemplateImport", body)
    assert done["constraintsCreated"] == len(body["constraints"]) == len(done["constraintIds"])
    again = api.ok("POST", "/auth/constraintsTemplateImport", body)
    assert again["constraintIds"] == done["constraintIds"]
    assert listed(api, role) == set(done["constraintIds"])
    missing = {**body, "variableValues": {"ROLE_NAME": role}}
    status, error = api.refused("POST", "/auth/constraintsTemplateImport", missing)
    assert (status, error["errors"][0]["field"]) == (400, "variableValues.DATABASE_ID")


def test_a_role_in_many_constraints_leaves_them_by_a_job(runtime: Runtime) -> None:
    api = runtime.client()
    role, other = new_role(api), new_role(api)
    piece = {**constraint(role), "groupPermissions": [{"action": "GET", "type": "allow"}]}
    body = {"variableValues": {"ROLE_NAME": role}, "constraints": [piece] * 21}
    names = api.ok("POST", "/auth/constraintsTemplateImport", body)["constraintIds"]
    shared = unique("see")
    given = [*constraint(role)["groupPermissions"], *constraint(other)["groupPermissions"]]
    api.ok("PUT", f"/auth/constraints/{shared}", constraint(role, groupPermissions=given))
    job_id = api.ok("DELETE", f"/roles/{role}")["jobId"]
    job = api.ended(job_id)
    assert (job["state"], job["problems"]) == ("done", [])
    assert api.refused("GET", f"/auth/constraints/{names[0]}")[0] == 404
    left = api.ok("GET", f"/auth/constraints/{shared}")["groupPermissions"]
    assert [each["groupId"] for each in left] == [other]


def test_a_deployment_has_the_constraints_of_administrators(runtime: Runtime) -> None:
    found = listed(runtime.client(), "admin")
    assert {"vitrine-admin-api", "vitrine-admin-asset", "vitrine-admin-database"} <= found
