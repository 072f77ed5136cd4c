"""Sends requests to the routes of executions."""

from collections.abc import Mapping
from typing import Any

from backend.domains.executions.routes import build_router
from tests.factories.executions import Runner
from tests.factories.http import Client, Response

ASSET = {"databaseId": "museum", "assetId": "statue"}
BASE = "/database/{databaseId}/assets/{assetId}"


class Api:
    """The routes of executions over a runner."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        router = build_router(runner.commands, runner.queries, lambda one: f"https://log/{one}")
        self.client = Client(router, user_id="ann", authorization=runner.rights)

    def start(
        self, file_key: str = "/a.glb", *, workflow_id: str = "publish", **body: Any
    ) -> Response:
        named = {"workflowDatabaseId": "museum", "fileKey": file_key, **body}
        return self.post("workflows/{workflowId}", named, workflowId=workflow_id)

    def started(self, file_key: str = "/a.glb", **body: Any) -> str:
        answer = self.start(file_key, **body)
        assert answer.status == 200, answer.body
        return str(answer.body["message"])

    def post(self, path: str, body: Any = None, **parameters: str) -> Response:
        return self.send("POST", path, parameters, body=body)

    def get(self, path: str, query: Mapping[str, str] | None = None, **more: Any) -> Response:
        return self.send("GET", path, more, query=query)

    def send(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, str],
        *,
        body: Any = None,
        query: Mapping[str, str] | None = None,
    ) -> Response:
        values = {**ASSET, **parameters}
        route = f"{BASE}/{path}"
        return self.client.send(
            method,
            route.format_map(values),
            route=f"{method} {route}",
            parameters=values,
            body=body,
            query=dict(query or {}),
        )
