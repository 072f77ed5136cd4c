"""Templates: variables, refusals, and the permissions of the standard templates in words."""

from typing import Any

import pytest

from backend.domains.access.policy.model import parse_rule
from backend.domains.access.policy.predicate import Predicate
from backend.domains.access.service.templates import STANDARD
from backend.spec.routes import ROUTES
from backend.spec.routes.model import Action
from tests.factories.constraints import constraint, criterion, policies, policies_by_rows, policy
from tests.factories.constraints import rows as rows_of
from tests.fakes.tables import MemoryTables
from tests.unit.domains.access.constraints.conftest import LARGE, Constraints

Json = dict[str, Any]


def piece(**other: Any) -> Json:
    """A constraint of a template."""
    return {
        "name": "{{ROLE_NAME}}-see",
        "description": "Assets of {{DATABASE_ID}}",
        "objectType": "asset",
        "criteriaAnd": [criterion(value="{{DATABASE_ID}}")],
        "criteriaOr": [],
        "groupPermissions": [{"action": "GET"}, {"action": "PUT", "type": "deny"}],
        **other,
    }


def template(*pieces: Json, values: Json | None = None, **other: Any) -> Json:
    return {
        "template": {"name": "Mine", "version": "1.0"},
        "variables": [{"name": "DATABASE_ID", "required": True}],
        "variableValues": values or {"ROLE_NAME": "viewer", "DATABASE_ID": "museum"},
        "constraints": list(pieces or [piece()]),
        **other,
    }


def test_a_template_adds_its_constraints_to_the_role(api: Constraints) -> None:
    done = api.load(template(piece(), piece(name="two", objectType="database")))
    assert done.status == 200
    (first, second) = done.body["constraintIds"]
    assert {key: done.body[key] for key in ("success", "message", "constraintsCreated")} == {
        "success": True,
        "message": "Role viewer now has 2 constraints of the template Mine",
        "constraintsCreated": 2,
    }
    made = api.get(first).body
    assert (made["name"], made["description"]) == ("viewer-see", "Assets of museum")
    assert made["criteriaAnd"] == [criterion(value="museum")]
    assert [
        (permission["groupId"], permission["permissionType"])
        for permission in made["groupPermissions"]
    ] == [
        ("viewer", "allow"),
        ("viewer", "deny"),
    ]
    assert api.get(second).body["objectType"] == "database"
    assert policies(api.memory) == policies_by_rows(api.memory)
    # They are ordinary constraints.
    assert api.put(first, constraint(name="Mine now")).body["operation"] == "update"
    assert api.delete(first).status == 200


def test_an_import_that_is_repeated_takes_the_place_of_the_first(api: Constraints) -> None:
    first = api.load(template()).body["constraintIds"]
    again = api.load(template(piece(objectType="database"))).body["constraintIds"]
    assert again == first
    assert [rule["objectType"] for rule in policy(api.memory, "role#viewer")] == ["database"]
    other = template(values={"ROLE_NAME": "viewer", "DATABASE_ID": "gallery"})
    assert api.load(other).body["constraintIds"] != first
    assert len(policy(api.memory, "role#viewer")) == 2
    variables = [{"name": "DATABASE_ID", "required": True, "default": "museum"}]
    body = template(values={"ROLE_NAME": "viewer"}, variables=variables)
    made = api.load(body).body["constraintIds"][0]
    assert api.get(made).body["criteriaAnd"][0]["value"] == "museum"


def test_thirty_constraints_are_imported_at_once_or_not_at_all(api: Constraints) -> None:
    large = piece(criteriaAnd=[LARGE])
    refused = api.load(template(piece(), *[large] * 8))
    assert (refused.status, refused.body["code"]) == (413, "PolicyTooLarge")
    assert (rows_of(api.memory), policies(api.memory)) == ({}, {})
    done = api.load(template(*[piece()] * 30))
    assert (done.status, len(set(done.body["constraintIds"]))) == (200, 30)
    assert policies(api.memory) == policies_by_rows(api.memory)
    assert api.load(template(*[piece()] * 31)).status == 400


@pytest.mark.parametrize("value", ["{{ROLE_NAME}}", "a{{b}}", "^.*$", "') || True"])
def test_what_a_value_holds_is_text(api: Constraints, value: str) -> None:
    body = template(values={"ROLE_NAME": "viewer", "DATABASE_ID": value})
    made = api.load(body).body["constraintIds"][0]
    assert api.get(made).body["criteriaAnd"][0]["value"] == value


@pytest.mark.parametrize("operator", ["contains", "does_not_contain"])
def test_a_value_never_becomes_the_wildcard(api: Constraints, operator: str) -> None:
    values = {"ROLE_NAME": "viewer", "A": ".", "B": "*"}
    wild = piece(criteriaAnd=[criterion(operator=operator, value="{{A}}{{B}}")], description="x")
    refused = api.load(template(wild, values=values, variables=[]))
    assert (refused.status, refused.body["errors"][0]["field"]) == (400, "variableValues")
    assert rows_of(api.memory) == {}
    own = piece(criteriaAnd=[criterion(operator=operator, value=".*")])
    assert api.load(template(own)).status == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (template(values={"DATABASE_ID": "museum"}), "variableValues"),
        (template(values={"ROLE_NAME": "", "DATABASE_ID": "museum"}), "variableValues"),
        (template(values={"ROLE_NAME": "viewer"}), "variableValues.DATABASE_ID"),
        (template(values={"ROLE_NAME": 5}), "variableValues.ROLE_NAME"),
        (template(values={"ROLE_NAME": "viewer", "a-b": "x"}), "variableValues.a-b"),
        (template(piece(name="{{WHO}}")), "variableValues.WHO"),
        (template(piece(objectType="key")), "constraints.0.objectType"),
        (template(piece(criteriaAnd=[criterion("who")])), "constraints.0.criteriaAnd.0.field"),
        (template(piece(criteriaAnd=[])), "constraints.0.criteriaAnd"),
        (template(piece(groupPermissions=[])), "constraints.0.groupPermissions"),
        (
            template(piece(groupPermissions=[{"action": "SEE"}])),
            "constraints.0.groupPermissions.0.action",
        ),
        (template(constraints=[]), "constraints"),
        (
            template(values={"ROLE_NAME": "viewer", "DATABASE_ID": ""}),
            "constraints.0.criteriaAnd.0.value",
        ),
        (
            template(
                piece(name="{{DATABASE_ID}}" * 17),
                values={"ROLE_NAME": "viewer", "DATABASE_ID": "x" * 256},
            ),
            "constraints.0.name",
        ),
        (
            template(values={"ROLE_NAME": "a/b", "DATABASE_ID": "museum"}),
            "constraints.0.groupPermissions.0.groupId",
        ),
        (template(values={"ROLE_NAME": "ghost", "DATABASE_ID": "museum"}), "groupPermissions"),
    ],
)
def test_a_wrong_template_is_refused_by_field(api: Constraints, body: object, field: str) -> None:
    answer = api.load(body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)
    assert rows_of(api.memory) == {}


# What the standard templates allow. The role is `viewer`, the database `museum`, the tag `locked`.
def test_the_standard_templates_are_listed_as_they_are_imported(api: Constraints) -> None:
    listed = api.send("GET", "/auth/constraintsTemplates").body["Items"]
    assert [element["template"]["name"] for element in listed] == list(STANDARD)
    for item in listed:
        names = {variable["name"] for variable in item["variables"]}
        values = {"ROLE_NAME": "viewer", "DATABASE_ID": "museum", "TAG_VALUE": "locked"}
        body = {**item, "variableValues": {name: values[name] for name in names}}
        assert api.load(body).status == 200


class Role:
    """The permissions of the role after one or several templates were applied."""

    def __init__(self, api: Constraints, memory: MemoryTables, *names: str) -> None:
        listed = api.send("GET", "/auth/constraintsTemplates").body["Items"]
        known = {item["template"]["name"]: item for item in listed}
        values = {"ROLE_NAME": "viewer", "DATABASE_ID": "museum", "TAG_VALUE": "locked"}
        for name in names:
            assert api.load({**known[name], "variableValues": values}).status == 200
        self.may = Predicate([parse_rule(rule) for rule in policy(memory, "role#viewer")])

    def asset(self, action: Action, database: str = "museum", *tags: str) -> bool:
        return self.may(action, "asset", {"databaseId": database, "tags": tags})

    def of(self, object_type: str, database: str) -> str:
        """Return the actions that are allowed on objects of a type in a database."""
        actions: tuple[Action, ...] = ("GET", "PUT", "POST", "DELETE")
        fields = {"databaseId": database}
        return " ".join(action for action in actions if self.may(action, object_type, fields))

    def routes(self) -> set[str]:
        """The routes that it may use."""
        return {
            route.key
            for route in ROUTES
            if route.method != "HEAD" and self.may(route.method, "api", {"route__path": route.path})
        }


@pytest.fixture
def role(request: pytest.FixtureRequest, api: Constraints) -> Role:
    return Role(api, api.memory, *request.param)


EVERYTHING = "GET PUT POST DELETE"
A = "/database/{databaseId}/assets/{assetId}"
_of = pytest.mark.parametrize


@_of("role", [["database-admin"]], indirect=True)
def test_a_database_admin_does_everything_within_the_database_and_makes_no_other(
    role: Role,
) -> None:
    for kind in ("asset", "pipeline", "workflow", "metadataSchema"):
        assert (role.of(kind, "museum"), role.of(kind, "gallery")) == (EVERYTHING, "")
    assert (role.of("database", "museum"), role.of("database", "gallery")) == (EVERYTHING, "")
    assert role.of("workflow", "GLOBAL") == role.of("pipeline", "GLOBAL") == "GET POST"
    assert role.of("metadataSchema", "GLOBAL") == "GET"


@_of("role", [["database-user"]], indirect=True)
def test_a_database_user_works_with_assets_and_deletes_nothing_permanently(role: Role) -> None:
    assert (role.of("asset", "museum"), role.of("asset", "gallery")) == (EVERYTHING, "")
    assert role.of("database", "museum") == "GET"
    assert role.of("metadataSchema", "museum") == "GET"
    assert role.of("workflow", "museum") == role.of("pipeline", "GLOBAL") == "GET POST"
    routes = role.routes()
    assert {
        *("POST /assets", f"PUT {A}", f"DELETE {A}/archiveAsset", f"DELETE {A}/archiveFile"),
        *(f"PUT {A}/unarchiveAsset", f"POST {A}/download", "POST /uploads"),
        *("POST /uploads/{uploadId}/complete", "GET /uploads/{uploadId}"),
        *("DELETE /uploads/{uploadId}", f"POST {A}/createVersion", f"DELETE {A}/metadata"),
        *(f"DELETE {A}/metadata/file", "POST /search", "GET /search"),
    } <= routes
    assert not routes & {
        *(f"DELETE {A}/deleteAsset", f"DELETE {A}/deleteFile", "DELETE /database/{databaseId}"),
        *("POST /database", "PUT /metadataschema", "POST /ingest-asset"),
    }


@_of(
    ("role", "elsewhere"),
    [(["database-readonly"], ""), (["global-readonly"], "GET")],
    indirect=["role"],
)
def test_a_reader_sees_and_downloads_and_changes_nothing(role: Role, elsewhere: str) -> None:
    for kind in ("asset", "database", "pipeline", "workflow", "metadataSchema"):
        assert (role.of(kind, "museum"), role.of(kind, "gallery")) == ("GET", elsewhere)
    routes = role.routes()
    assert {key for key in routes if not key.startswith("GET ")} == {
        *("POST /search", "POST /search/simple", "POST /previews", "POST /check-subscription"),
        *(f"POST {A}/download", f"POST {A}/export"),
    }
    assert {f"GET {A}", "GET /search", "GET /database", "GET /tags", f"GET {A}/listFiles"} <= routes


@_of("role", [[name] for name in STANDARD], indirect=True)
def test_no_template_opens_administration(role: Role) -> None:
    ways = ("/auth", "/roles", "/user-roles", "/user/", "/admin", "/audit")
    assert not [key for key in role.routes() if key.split(" ")[1].startswith(ways)]
    assert not role.may("GET", "role", {"roleName": "admin"})
    assert not role.may("GET", "web", {"route__path": "/auth/constraints"})


@_of("role", [["database-user", "deny-tagged-assets"]], indirect=True)
def test_assets_with_the_denied_tag_can_be_seen_and_not_changed(role: Role) -> None:
    actions: tuple[Action, ...] = ("PUT", "POST", "DELETE")
    for action in actions:
        assert role.asset(action, "museum", "open")
        assert role.asset(action)
        assert not role.asset(action, "museum", "open", "locked")
    assert role.asset("GET", "museum", "locked")


@_of("role", [["deny-tagged-assets"]], indirect=True)
def test_a_template_that_denies_allows_nothing(role: Role) -> None:
    assert not role.asset("GET", "museum", "open")
    assert role.routes() == set()
