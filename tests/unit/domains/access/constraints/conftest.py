"""The routes of access over tables in memory, with the roles viewer and editor."""

from datetime import datetime

import pytest

from tests.factories.access import stored_user_role
from tests.factories.administration import AccessServices, Parts, stored_role
from tests.factories.audit import audit_service
from tests.factories.http import Client, Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables


class Constraints(Client):
    """Requests to the routes of constraints."""

    def put(self, name: str, body: object, method: str = "PUT") -> Response:
        return self.send_to(method, "/auth/constraints/{constraintId}", name, body)

    def get(self, name: str) -> Response:
        return self.send_to("GET", "/auth/constraints/{constraintId}", name)

    def delete(self, name: str) -> Response:
        return self.send_to("DELETE", "/auth/constraints/{constraintId}", name)

    def delete_role(self, name: str) -> Response:
        parameters = {"roleId": name}
        route = "DELETE /roles/{roleId}"
        return self.send("DELETE", "/roles/x", route=route, parameters=parameters)

    def load(self, body: object) -> Response:
        return self.send("POST", "/auth/constraintsTemplateImport", body=body)

    def send_to(self, method: str, path: str, name: str, body: object = None) -> Response:
        return self.send(
            method,
            "/auth/constraints/x",
            route=f"{method} {path}",
            parameters={"constraintId": name},
            body=body,
        )


@pytest.fixture
def memory() -> MemoryTables:
    tables = MemoryTables()
    for name in ("admin", "viewer", "editor"):
        stored_role(tables, name)
    stored_user_role(tables, user_id="admin")
    return tables


@pytest.fixture
def services(memory: MemoryTables, now: datetime) -> AccessServices:
    return Parts(memory, audit_service(MemoryObjects()), now).services()


@pytest.fixture
def api(services: AccessServices) -> Constraints:
    return Constraints(services.router())
