"""Calls of the routes of pipelines and workflows in tests of both slices."""

from typing import Any

from backend.spec import routes
from backend.spec.routes import Route
from tests.factories.buckets import BUCKET_ID
from tests.factories.http import Response
from tests.factories.workflows import Json
from tests.unit.domains.audit.product import Product


class Definitions:
    """The routes of pipelines and workflows of a product in memory with one database."""

    def __init__(self, product: Product, database_id: str = "museum") -> None:
        self.product = product
        made = {"databaseId": database_id, "description": "All of it"}
        self.done(routes.CREATE_DATABASE, body={**made, "defaultBucketId": BUCKET_ID})

    def send(self, route: Route, body: Any = None, **more: Any) -> Response:
        """One request; `more` are `query`, `user_id` and the path's parameters."""
        beside = {name: more.pop(name) for name in ("query", "user_id") if name in more}
        return self.product.send(route, body=body, parameters=more, **beside)

    def done(self, route: Route, body: Any = None, **more: Any) -> Any:
        """The body of the answer to a request that succeeds."""
        answer = self.send(route, body, **more)
        assert answer.status == 200, answer.body
        return answer.body

    def refused(self, route: Route, body: Any = None, **more: Any) -> tuple[int, list[str], str]:
        """Status, fields and message of the answer to a request that is refused."""
        answer = self.send(route, body, **more)
        named = [item["field"] for item in answer.body.get("errors", ())]
        return answer.status, named, answer.body["message"]

    def pipeline(self, pipeline_id: str = "convert", database_id: str = "museum") -> Json:
        path = {"databaseId": database_id, "pipelineId": pipeline_id}
        return self.done(routes.GET_PIPELINE, **path)["message"]

    def workflow(self, workflow_id: str = "publish", database_id: str = "museum") -> Json:
        path = {"databaseId": database_id, "workflowId": workflow_id}
        return self.done(routes.GET_WORKFLOW, **path)["message"]
