"""Replies that MLflow's server can send: to scorers with large ids, and to its demo."""

from typing import Any

import pytest
from flask import Flask
from mlflow.exceptions import MlflowException
from vitrine_mlflow.scorers import version_of
from vitrine_mlflow.store_unsupported import require_no_demo

ITEM: dict[str, Any] = {
    "name": "judge", "version": 1, "serialized": "{}", "created": 1, "scorer_id": "s",
}  # fmt: skip


@pytest.mark.parametrize("experiment_id", ["0", str(2**31 - 1), str(2**31), "900000000000000001"])
def test_a_scorer_of_any_experiment_has_a_message(experiment_id: str) -> None:
    message: Any = version_of(experiment_id, ITEM).to_proto()
    has_id = message.HasField("experiment_id")
    assert (message.scorer_name, has_id) == ("judge", int(experiment_id) < 2**31)


@pytest.mark.parametrize(
    ("path", "body", "refused"),
    [
        ("/ajax-api/3.0/mlflow/demo/generate", None, True),
        ("/ajax-api/3.0/mlflow/demo/generate", {"features": ["review_queues"]}, True),
        ("/ajax-api/3.0/mlflow/demo/generate", {"features": ["traces"]}, False),
        ("/ajax-api/3.0/mlflow/demo/delete", None, False),
    ],
)
def test_the_whole_demo_is_refused_before_it_stores_anything(
    path: str, body: Any, refused: bool
) -> None:
    with Flask("served").test_request_context(path, method="POST", json=body):
        require_no_demo("another experiment")
        if refused:
            with pytest.raises(MlflowException, match="review queues") as error:
                require_no_demo("MLflow Demo")
            assert error.value.get_http_status_code() == 501
        else:
            require_no_demo("MLflow Demo")
