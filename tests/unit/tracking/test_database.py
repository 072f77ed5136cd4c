"""Requests of the database, with a client that records them."""

from typing import Any

import pytest
from mlflow.exceptions import MlflowException  # first: MLflow imports the stores of this package
from vitrine_mlflow.database import Database
from vitrine_mlflow.keys import Key

PAGES = 60


class PagingClient:
    """Returns one item on each of many pages, as DynamoDB does where items are large."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def query(self, **parameters: Any) -> dict[str, Any]:
        self.limits.append(parameters["Limit"])
        key = {"PK": {"S": "EXP#0"}, "SK": {"S": f"R#{len(self.limits):03}"}}
        more = {"LastEvaluatedKey": key} if len(self.limits) < PAGES else {}
        return {"Items": [key], **more}


def test_the_limit_of_a_query_of_many_pages_grows_to_ten_thousand() -> None:
    client: Any = PagingClient()
    assert len(list(Database(client, "table").query("EXP#0", limit=100))) == PAGES
    assert client.limits[:4] == [100, 200, 400, 800]
    assert set(client.limits[7:]) == {10_000}


def test_a_key_that_dynamodb_refuses_is_refused_before_the_request() -> None:
    client: Any = PagingClient()
    with pytest.raises(MlflowException, match="more than 1024"):
        Database(client, "table").get(Key("EXP#0", "R#" + "x" * 1_100))
