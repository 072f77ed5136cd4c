"""Routes of access: keys, roles, users, constraints."""

from typing import Any

from backend.spec import routes
from backend.spec.page import PROOF_HEADER
from tests.factories.constraints import constraint, groups
from tests.routes import contents
from tests.routes.model import (
    ID,
    NO_ID,
    OF_KEYS,
    OWN,
    OWN_AND_FOREIGN,
    Case,
    Request,
    Rows,
    Target,
    fixed,
    in_body,
    in_list,
    in_path,
)
from tests.routes.needs import (
    allow_all,
    check_new_key,
    check_new_role,
    check_new_sign_in,
    check_own_key,
    check_profile,
    check_role_to_give,
    check_roles_to_take,
    check_sign_in,
)
from tests.routes.rows import make_constraint, make_key, make_role, make_sign_in, make_user_role
from tests.unit.domains.access.matrix.seeding import ANN
from tests.unit.domains.access.matrix.world import Question, session_id
from tests.unit.domains.audit.product import SECRET

BOB = "bob@example.org"
_ABSENT_USER = "none@example.org"
_GIVEN = {"userId": BOB, "roleName": ["editor"]}
_TEMPLATE = {
    "variableValues": {"ROLE_NAME": "editor"},
    "constraints": [{**constraint(), "groupPermissions": [{"action": "GET"}]}],
}
_SEEN = {"groupPermissions": groups("editor")}


def _owner(target: Target) -> str:
    return {"own": target.user_id, "foreign": ANN}.get(target.state, "")


def _key_id(target: Target) -> str:
    return target.world.keys.get(_owner(target), NO_ID)


def _on_key(body: Any = None) -> Request:
    return lambda target: Question({"apiKeyId": _key_id(target)}, body=body)


def _key_entity(target: Target) -> str:
    return f"apiKey:{_key_id(target)}"


def _new_key(target: Target) -> Any:
    return {"apiKeyName": "Other", "userId": _owner(target), "description": "For the lab"}


def _from_page(target: Target) -> Question:
    return Question({}, headers={PROOF_HEADER: SECRET})


def _with_session(target: Target) -> Question:
    return Question({}, has_session=True)


def _on_profile(body: Any = None) -> Request:
    return lambda target: Question({"userId": _owner(target)}, body=body)


def _pages(target: Target) -> Question:
    path = target.either("/assets", "/auth/constraints")
    page = {"method": "GET", "route__path": path}
    return Question({}, body={"routes": [page]}, shows=f"'{path}'")


def _on_user(body: Any = None) -> Request:
    return in_path("userId", ANN, _ABSENT_USER, body)


def _on_constraint(**body: Any) -> Request:
    return in_path("constraintId", "see", body=constraint(**body) if body else None)


CASES = (
    Case(routes.LIST_API_KEYS, lambda target: Question({}, shows=_key_id(target)), OF_KEYS,
         rows=Rows(make_key, "apiKeyId"), needs=allow_all, content=contents.API_KEYS),
    Case(routes.CREATE_API_KEY, in_body(_new_key), OWN_AND_FOREIGN, "apiKey:", needs=check_new_key),
    Case(routes.GET_API_KEY, _on_key(), OF_KEYS),
    Case(routes.UPDATE_API_KEY, _on_key({"isActive": "false"}), OF_KEYS, _key_entity),
    Case(routes.DELETE_API_KEY, _on_key(), OF_KEYS, _key_entity),
    Case(routes.LIST_OWN_API_KEYS, lambda target: Question({}, shows=_key_id(target)), OF_KEYS,
         needs=allow_all, content=contents.OWN_API_KEYS, rows=Rows(make_key, "apiKeyId")),
    Case(routes.CREATE_OWN_API_KEY, fixed({"apiKeyName": "Other", "description": "For the lab",
         "expiresAt": "2026-12-31"}), OWN, "apiKey: create_api_key", needs=allow_all),
    Case(routes.GET_OWN_API_KEY, _on_key(), OF_KEYS, needs=check_own_key),
    Case(routes.UPDATE_OWN_API_KEY, _on_key({"isActive": "false"}), OF_KEYS,
         lambda target: f"{_key_entity(target)} update_api_key", needs=check_own_key),
    Case(routes.DELETE_OWN_API_KEY, _on_key(), OF_KEYS,
         lambda target: f"{_key_entity(target)} delete_api_key", needs=check_own_key),
    Case(routes.CREATE_SESSION, _from_page, OWN, audit="apiKey:", needs=allow_all),
    Case(routes.DELETE_SESSION, _with_session, OWN, needs=allow_all,
         audit=lambda target: f"apiKey:{session_id(target.user_id)}"),
    Case(routes.LIST_ROLES, in_list("'editor'"), ID, rows=Rows(make_role, "roleName"),
         needs=allow_all, content=contents.ROLES),
    Case(routes.CREATE_ROLE, fixed({"roleName": "viewer", "description": "Looks"}), OWN,
         audit="role:viewer", needs=check_new_role),
    Case(routes.UPDATE_ROLE, in_body(lambda target: {"roleName": target.either("editor"),
         "description": "X"}), ID, audit="role:editor"),
    Case(routes.DELETE_ROLE, in_path("roleId", "editor"), ID, audit=("role:editor",
         "constraint:see", f"userRole:{ANN}")),
    Case(routes.LIST_USER_ROLES, in_list(f"'{ANN}'"), ID, rows=Rows(make_user_role, "userId", 500),
         needs=allow_all, content=contents.USER_ROLES),
    Case(routes.ADD_USER_ROLES, fixed(_GIVEN), OWN, audit=f"userRole:{BOB}",
         needs=check_role_to_give),
    Case(routes.SET_USER_ROLES, fixed(_GIVEN), OWN, audit=f"userRole:{BOB}",
         needs=check_role_to_give),
    Case(routes.DELETE_USER_ROLES, in_body(lambda target: {"userId": target.either(ANN,
         _ABSENT_USER)}), ID, audit=f"userRole:{ANN}", needs=check_roles_to_take),
    Case(routes.LIST_ALLOWED_ROUTES, _pages, OWN_AND_FOREIGN, without_entry="reads",
         needs=allow_all, content=contents.PAGES),
    Case(routes.LIST_API_ROUTES, fixed(), OWN),
    Case(routes.LIST_ALLOWED_API_ROUTES, lambda target: Question({}, shows="'/assets'"), OWN,
         needs=allow_all, content=contents.API_ROUTES),
    Case(routes.GET_LOGIN_PROFILE, _on_profile(), OWN_AND_FOREIGN, needs=check_profile),
    Case(routes.UPDATE_LOGIN_PROFILE, _on_profile({"email": "x@example.org"}), OWN_AND_FOREIGN,
         audit=lambda target: f"user:{target.user_id}", needs=check_profile),
    Case(routes.LIST_COGNITO_USERS, in_list(f"'{ANN}'"), ID, rows=Rows(make_sign_in, "userId",
         200), needs=allow_all, content=contents.SIGN_INS),
    Case(routes.CREATE_COGNITO_USER, fixed({"userId": BOB, "email": BOB}), OWN,
         audit=f"user:{BOB}", needs=check_new_sign_in),
    Case(routes.UPDATE_COGNITO_USER, _on_user({"email": "other@example.org"}), ID,
         audit=f"user:{ANN}", needs=check_sign_in),
    Case(routes.DELETE_COGNITO_USER, _on_user(), ID, audit=(f"user:{ANN}",
         "apiKey: disable_api_key"), needs=check_sign_in),
    Case(routes.RESET_COGNITO_PASSWORD, _on_user({"confirmReset": True}), ID, audit=f"user:{ANN}",
         needs=check_sign_in),
    Case(routes.LIST_CONSTRAINTS, fixed(), OWN, rows=Rows(make_constraint, "constraintId", 60)),
    Case(routes.LIST_PERMISSION_OBJECTS, fixed(), OWN),
    Case(routes.GET_CONSTRAINT, _on_constraint(), ID),
    Case(routes.CREATE_CONSTRAINT, _on_constraint(**_SEEN), OWN, audit="constraint:see"),
    Case(routes.UPDATE_CONSTRAINT, _on_constraint(**_SEEN, name="Other"), OWN,
         audit="constraint:see"),
    Case(routes.DELETE_CONSTRAINT, _on_constraint(), ID, audit="constraint:see"),
    Case(routes.LIST_CONSTRAINTS_TEMPLATES, fixed(), OWN),
    Case(routes.IMPORT_CONSTRAINTS_TEMPLATE, fixed(_TEMPLATE), OWN, audit="constraint:"),
    Case(routes.EXPLAIN_ACCESS, fixed(query={"userId": "admin", "action": "GET",
         "objectType": "asset"}), OWN),
)  # fmt: skip
