"""The routes of access over tables in memory, with the roles viewer and editor."""

from dataclasses import dataclass, field
from datetime import datetime

import pytest

from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.audit import audit_service
from tests.factories.constraints import criterion
from tests.factories.http import Client, Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

LARGE = criterion("databaseId", "is_one_of", [f"{number:04}" * 15 for number in range(1000)])
"""A criterion that fills a seventh of an item."""


@dataclass(frozen=True)
class Constraints(Client):
    """Requests to the routes of constraints."""

    memory: MemoryTables = field(default_factory=MemoryTables)

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
def api(now: datetime) -> Constraints:
    memory = MemoryTables()
    for name in ("admin", "viewer", "editor"):
        stored_role(memory, name)
    stored_user_role(memory, user_id="admin")
    services = Parts(memory, audit_service(MemoryObjects()), now).services()
    return Constraints(services.router(), memory=memory)
