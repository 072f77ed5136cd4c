"""The store of MLflow's basic-auth app against MLflow's own, in the same operations."""

import inspect
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mlflow.exceptions import MlflowException
from mlflow.server import auth
from mlflow.server.auth.sqlalchemy_store import SqlAlchemyStore
from mlflow.utils.workspace_context import WorkspaceContext
from vitrine_mlflow.auth.store import DynamoAuthStore
from vitrine_mlflow.database import Database
from vitrine_mlflow.store_unsupported import area_of

_PASSWORD = "correct horse battery"


class Store:
    """A store, and the ids that it generated, by the names that this test gives them."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.ids: dict[str, int] = {}
        self.users: dict[int, str] = {}

    def outcome(self, call: Callable[["Store"], Any], workspace: str) -> Any:
        with WorkspaceContext(workspace):
            try:
                return self.plain(call(self))
            except MlflowException as error:
                text = str(error).partition(" Error: ")[0]
                return error.error_code, re.sub(r"(user_id|role_id|with id)=\d+", r"\1=ID", text)

    def plain(self, value: Any) -> Any:
        """A result without ids, in an order that does not depend on them."""
        if isinstance(value, (list, set)):
            return sorted((self.plain(member) for member in value), key=repr)  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, tuple):
            return tuple(self.plain(member) for member in value)  # pyright: ignore[reportUnknownVariableType]
        if hasattr(value, "to_json"):
            value = value.to_json()
        if isinstance(value, dict):
            return {
                key: self.names(key, member)
                for key, member in value.items()  # pyright: ignore[reportUnknownVariableType]
            }
        return value

    def names(self, key: Any, value: Any) -> Any:
        if key in {"id", "role_id"}:
            return "an id"
        if key == "user_id":
            return self.users.get(value, "nobody")
        if key == "name" and str(value).startswith("__user_"):
            return "own role"
        return self.plain(value)

    def user(self, name: str, **options: Any) -> Any:
        created = self.store.create_user(name, _PASSWORD, **options)
        self.ids[name] = created.id
        self.users[created.id] = name
        return created

    def role(self, name: str, workspace: str = "default") -> Any:
        created = self.store.create_role(name, workspace, "text")
        self.ids[name] = created.id
        return created

    def add(self, role: str, *grant: str) -> Any:
        created = self.store.add_role_permission(self.ids[role], *grant)
        self.ids["-".join((role, *grant))] = created.id
        return created

    def own_role(self, user: str) -> int:
        roles = self.store.list_user_roles_for_workspace(self.ids[user], "default")
        return next(role.id for role in roles if role.name.startswith("__user_"))

    def permission(self, user: str, kind: str, resource: str, workspace: str = "default") -> Any:
        grant = self.store.get_role_permission_for_resource(
            self.ids[user], kind, resource, workspace
        )
        return None if grant is None else grant.name


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with MLflow's tables, whose migrations take seconds."""
    path = tmp_path_factory.mktemp("auth") / "template.db"
    SqlAlchemyStore().init_db(f"sqlite:///{path}")
    return path


@pytest.fixture
def ours(table: Database) -> Store:
    store = DynamoAuthStore()
    store.build(table)
    return Store(store)


@pytest.fixture
def theirs(template: Path, tmp_path: Path) -> Iterator[Store]:
    store: Any = SqlAlchemyStore()
    store.init_db(f"sqlite:///{shutil.copy(template, tmp_path / 'sql.db')}")
    yield Store(store)
    store.engine.dispose()


def _resource_steps() -> list[Callable[[Store], Any]]:
    """The five methods of each type of resource, also on permissions that do not exist."""
    steps: list[Callable[[Store], Any]] = []
    for kind, ids in (
        ("experiment", ("7",)), ("registered_model", ("my#model",)), ("scorer", ("7", "a/b")),
    ):  # fmt: skip
        suffix = f"{kind}_permission"
        calls: list[tuple[str, tuple[str, ...]]] = [
            (f"get_{suffix}", (*ids, "ann")),
            (f"create_{suffix}", (*ids, "ann", "READ")),
            (f"create_{suffix}", (*ids, "ann", "EDIT")),
            (f"create_{suffix}", (*ids, "nobody", "EDIT")),
            (f"create_{suffix}", (*ids, "ann", "NO_PERMISSIONS")),
            (f"create_{suffix}", (*ids, "ann", "everything")),
            (f"get_{suffix}", (*ids, "ann")),
            (f"update_{suffix}", (*ids, "ann", "MANAGE")),
            (f"update_{suffix}", (*ids, "bob", "MANAGE")),
            (f"list_{suffix}s", ("ann",)),
            (f"list_{suffix}s", ("bob",)),
            (f"list_{suffix}s", ("nobody",)),
            (f"delete_{suffix}", (*ids, "bob")),
            (f"delete_{suffix}", (*ids, "ann")),
            (f"delete_{suffix}", (*ids, "ann")),
            (f"create_{suffix}", (*ids, "ann", "DENY")),
        ]
        steps += [_call(name, arguments) for name, arguments in calls]
    return steps


def _call(name: str, arguments: tuple[str, ...]) -> Callable[[Store], Any]:
    return lambda s: getattr(s.store, name)(*arguments)


_USERS: list[Callable[[Store], Any]] = [
    lambda s: s.user("ann"),
    lambda s: s.user("ann"),
    lambda s: s.user("bob", is_admin=True),
    lambda s: s.store.create_user("", _PASSWORD),
    lambda s: s.store.create_user("cy", "short"),
    lambda s: s.store.has_user("ann"),
    lambda s: s.store.has_user("nobody"),
    lambda s: s.store.get_user("ann"),
    lambda s: s.store.get_user("nobody"),
    lambda s: s.store.authenticate_user("ann", _PASSWORD),
    lambda s: s.store.authenticate_user("ann", "wrong"),
    lambda s: s.store.authenticate_user("nobody", _PASSWORD),
    lambda s: s.store.update_user("ann", "another password"),
    lambda s: s.store.update_user("ann", "x"),
    lambda s: s.store.update_user("nobody", is_admin=True),
    lambda s: s.store.authenticate_user("ann", _PASSWORD),
    lambda s: s.store.authenticate_user("ann", "another password"),
    lambda s: s.store.update_user("bob", is_admin=False),
    lambda s: s.store.list_users(),
]
_GRANTS: list[Callable[[Store], Any]] = [
    lambda s: s.store.grant_user_permission("ann", "experiment", "1", "READ"),
    lambda s: s.store.grant_user_permission("ann", "experiment", "1", "EDIT"),
    lambda s: s.store.grant_user_permission("ann", "experiment", "*", "READ"),
    lambda s: s.store.grant_user_permission("ann", "run", "5", "READ"),
    lambda s: s.store.grant_user_permission("nobody", "experiment", "1", "READ"),
    lambda s: s.store.grant_user_resource_permission("ann", "experiment", "1", "READ"),
    lambda s: s.store.grant_user_resource_permission("ann", "workspace", "*", "USE"),
    lambda s: s.store.grant_user_resource_permission("ann", "prompt", "p", "USE"),
    lambda s: s.store.revoke_user_resource_permission("ann", "prompt", "p"),
    lambda s: s.store.revoke_user_resource_permission("ann", "prompt", "p"),
    lambda s: s.store.list_experiment_permissions("ann"),
    lambda s: s.permission("ann", "experiment", "1"),
    lambda s: s.permission("ann", "experiment", "2"),
    lambda s: s.permission("bob", "experiment", "2"),
    lambda s: s.store.create_registered_model_permission("old", "ann", "READ"),
    lambda s: s.store.create_registered_model_permission("old", "bob", "MANAGE"),
    lambda s: s.store.rename_grants_for_resource(
        "registered_model", "old", "new", workspace_scoped=True
    ),
    lambda s: s.store.get_registered_model_permission("new", "bob"),
    lambda s: s.store.get_registered_model_permission("old", "bob"),
    lambda s: s.store.delete_grants_for_resource("registered_model", "new"),
    lambda s: s.store.list_registered_model_permissions("ann"),
    lambda s: s.store.list_all_registered_model_permissions("bob"),
    lambda s: s.store.delete_grants_for_resource("experiment", "1"),
    lambda s: s.permission("ann", "experiment", "1"),
]
_ROLES: list[Callable[[Store], Any]] = [
    lambda s: s.role("reader"),
    lambda s: s.role("reader"),
    lambda s: s.role("__user_1__"),
    lambda s: s.role("admin", "team-a"),
    lambda s: s.store.get_role(s.ids["reader"]),
    lambda s: s.store.get_role(987),
    lambda s: s.store.get_role_by_name("team-a", "admin"),
    lambda s: s.store.get_role_by_name("team-a", "reader"),
    lambda s: s.store.update_role(s.ids["reader"], "viewer", "other"),
    lambda s: s.store.update_role(s.ids["reader"], "__user_x"),
    lambda s: s.store.update_role(987, "x"),
    lambda s: s.store.list_roles(),
    lambda s: s.store.list_roles(["team-a"]),
    lambda s: s.store.list_roles([]),
    lambda s: s.add("reader", "experiment", "*", "READ"),
    lambda s: s.add("reader", "experiment", "*", "EDIT"),
    lambda s: s.add("reader", "experiment", "9", "DENY"),
    lambda s: s.add("reader", "run", "9", "READ"),
    lambda s: s.add("reader", "workspace", "*", "READ"),
    lambda s: s.add("admin", "workspace", "*", "MANAGE"),
    lambda s: s.store.add_role_permission(987, "experiment", "*", "READ"),
    lambda s: s.store.list_role_permissions(s.ids["reader"]),
    lambda s: s.store.list_role_permissions(987),
    lambda s: s.store.get_role_permission(s.ids["reader-experiment-9-DENY"]),
    lambda s: s.store.get_role_permission(987),
    lambda s: s.store.update_role_permission(s.ids["reader-experiment-*-READ"], "USE"),
    lambda s: s.store.update_role_permission(s.ids["reader-experiment-*-READ"], "all"),
    lambda s: s.store.assign_role_to_user(s.ids["ann"], s.ids["reader"]),
    lambda s: s.store.assign_role_to_user(s.ids["ann"], s.ids["reader"]),
    lambda s: s.store.assign_role_to_user(987, s.ids["reader"]),
    lambda s: s.store.assign_role_to_user(s.ids["ann"], 987),
    lambda s: s.store.assign_role_to_user(s.ids["bob"], s.ids["admin"]),
    lambda s: s.store.list_user_roles(s.ids["ann"]),
    lambda s: s.store.list_user_roles_for_workspace(s.ids["ann"], "team-a"),
    lambda s: s.store.list_users_with_roles(),
    lambda s: s.store.list_role_users(s.ids["reader"]),
    lambda s: s.store.user_has_any_role_in_workspace(s.ids["bob"], "team-a"),
    lambda s: s.store.user_has_any_role_in_workspace(s.ids["ann"], "team-a"),
    lambda s: s.store.list_user_present_workspaces(s.ids["bob"]),
    lambda s: [s.permission("ann", "experiment", resource) for resource in ("1", "9")],
    lambda s: s.permission("bob", "experiment", "9", "team-a"),
    lambda s: s.permission("bob", "workspace", "team-a", "team-a"),
    lambda s: s.store.is_workspace_admin(s.ids["bob"], "team-a"),
    lambda s: s.store.is_workspace_admin(s.ids["ann"], "default"),
    lambda s: s.store.list_workspace_admin_workspaces(s.ids["bob"]),
    lambda s: s.store.is_workspace_admin_of_any_of_users_workspaces(s.ids["bob"], s.ids["ann"]),
    lambda s: s.store.list_grants(s.ids["ann"], "default", ["experiment"]),
    lambda s: s.store.list_grants(s.ids["ann"], "default", ["nothing"]),
    lambda s: s.store.list_role_grants_for_user_in_workspace(s.ids["ann"], "default", "experiment"),
    lambda s: s.store.list_accessible_workspace_names("bob"),
    lambda s: s.store.list_accessible_workspace_names(None),
    lambda s: s.store.remove_role_permission(s.ids["reader-experiment-9-DENY"]),
    lambda s: s.store.remove_role_permission(s.ids["reader-experiment-9-DENY"]),
    lambda s: s.permission("ann", "experiment", "9"),
    lambda s: s.store.unassign_role_from_user(s.ids["ann"], s.ids["reader"]),
    lambda s: s.store.unassign_role_from_user(s.ids["ann"], s.ids["reader"]),
    lambda s: s.store.delete_role(s.ids["reader"]),
    lambda s: s.store.delete_role(s.ids["reader"]),
    lambda s: s.store.delete_roles_for_workspace("team-a"),
    lambda s: s.store.list_user_roles(s.ids["bob"]),
]
_WORKSPACES: list[Callable[[Store], Any]] = [
    lambda s: s.store.set_workspace_permission("team-b", "ann", "USE"),
    lambda s: s.store.set_workspace_permission("team-b", "ann", "MANAGE"),
    lambda s: s.store.set_workspace_permission("team-b", "ann", "READ"),
    lambda s: s.store.set_workspace_permission("team-b", "nobody", "USE"),
    lambda s: s.store.list_workspace_permissions("team-b"),
    lambda s: s.store.list_user_workspace_permissions("ann"),
    lambda s: s.store.list_user_workspace_permissions("bob"),
    lambda s: s.store.get_workspace_permission("team-b", "ann").name,
    lambda s: s.store.get_workspace_permission("team-b", "bob"),
    lambda s: s.store.get_role_workspace_permission("team-b", "ann").name,
    lambda s: s.store.get_role_workspace_permission("team-b", "bob"),
    lambda s: s.store.list_accessible_workspace_names("ann"),
    lambda s: s.store.delete_workspace_permission("team-b", "bob"),
    lambda s: s.store.delete_workspace_permission("team-b", "ann"),
    lambda s: s.store.set_workspace_permission("team-b", "ann", "USE"),
    lambda s: s.store.delete_workspace_permissions_for_workspace("team-b"),
    lambda s: s.store.list_workspace_permissions("team-b"),
    lambda s: s.store.grant_user_permission("ann", "experiment", "1", "READ"),
    lambda s: s.store.delete_role(s.own_role("ann")),
    lambda s: s.permission("ann", "experiment", "1"),
    lambda s: s.store.grant_user_permission("ann", "experiment", "1", "READ"),
    lambda s: s.store.delete_user("ann"),
    lambda s: s.store.delete_user("ann"),
    lambda s: s.store.list_users(),
    lambda s: s.store.list_user_roles(s.ids["ann"]),
    lambda s: s.user("ann"),
    lambda s: s.permission("ann", "experiment", "1"),
    lambda s: s.store.list_users_with_roles(),
]


def test_every_step_returns_what_the_sql_store_returns(ours: Store, theirs: Store) -> None:
    steps = [*_USERS, *_resource_steps(), *_GRANTS, *_ROLES, *_WORKSPACES]
    for number, call in enumerate(steps):
        assert ours.outcome(call, "default") == theirs.outcome(call, "default"), f"step {number}"


def test_permissions_for_models_belong_to_a_workspace(
    ours: Store, theirs: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    steps: list[tuple[str, Callable[[Store], Any]]] = [
        ("default", lambda s: s.user("ann")),
        ("default", lambda s: s.store.create_registered_model_permission("net", "ann", "READ")),
        ("team-a", lambda s: s.store.create_registered_model_permission("net", "ann", "EDIT")),
        ("team-a", lambda s: s.store.list_registered_model_permissions("ann")),
        ("team-a", lambda s: s.store.list_all_registered_model_permissions("ann")),
        ("team-a", lambda s: s.permission("ann", "registered_model", "net", "team-a")),
        ("team-a", lambda s: s.store.delete_grants_for_resource(
            "registered_model", "net", workspace_scoped=True)),
        ("team-a", lambda s: s.permission("ann", "registered_model", "net", "team-a")),
        ("default", lambda s: s.permission("ann", "registered_model", "net")),
    ]  # fmt: skip
    for number, (workspace, call) in enumerate(steps):
        both = [store.outcome(call, workspace) for store in (ours, theirs)]
        assert both[0] == both[1], f"step {number}"


def test_it_has_every_method_of_mlflows_store_with_its_parameters() -> None:
    for name, method in inspect.getmembers(SqlAlchemyStore, inspect.isfunction):
        if name.startswith("_") and name != "_scorer_pattern":
            continue
        if area_of(name) is not None:  # permissions of what the stores do not have
            assert not hasattr(DynamoAuthStore, name)
            continue
        own = getattr(DynamoAuthStore, name)
        wanted = [
            parameter for parameter in inspect.signature(method).parameters if parameter != "self"
        ]
        assert [
            parameter for parameter in inspect.signature(own).parameters if parameter != "self"
        ] == wanted, name


def test_passwords_are_stored_as_salted_hashes(ours: Store) -> None:
    ours.user("ann")
    ours.user("bob")
    hashes = {ours.store.items.user(name)["password_hash"] for name in ("ann", "bob")}
    assert len(hashes) == 2
    assert all(digest.startswith("scrypt:") and _PASSWORD not in digest for digest in hashes)


def _misses_user(username: str, *, use_primary: bool) -> bool:
    assert (username, use_primary) == ("boss", True)
    return False


def test_servers_that_start_at_once_create_one_administrator(
    ours: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "store", ours.store, raising=False)
    # neither has seen the user of the other
    monkeypatch.setattr(ours.store, "has_user", _misses_user)
    create: Any = auth
    for _ in range(2):
        create.create_admin_user("boss", _PASSWORD)
    assert [user.username for user in ours.store.list_users()] == ["boss"]


def test_names_of_users_and_roles_have_no_invisible_characters(ours: Store) -> None:
    ours.role("reader")
    for create in (
        lambda: ours.user("a\u3164b"),
        lambda: ours.role("reader\u115f"),
        lambda: ours.store.update_role(ours.ids["reader"], "rea\uffa0der"),
    ):
        with pytest.raises(MlflowException, match=r"name must not contain the invisible character"):
            create()
