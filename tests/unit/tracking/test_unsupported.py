"""Modules that the package imports, differences it declares, and areas it does not support."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from mlflow.exceptions import MlflowException
from vitrine_mlflow.mlflow_genai import endpoint_of_scorer
from vitrine_mlflow.scorers import version_of
from vitrine_mlflow.store_unsupported import require_no_demo

from tests.integration.tracking.differences import Difference

ITEM: dict[str, Any] = {
    "name": "judge", "version": 1, "serialized": "{}", "created": 1, "scorer_id": "s",
}  # fmt: skip


@pytest.mark.parametrize("experiment_id", ["0", str(2**31 - 1), str(2**31), "900000000000000001"])
def test_a_scorer_of_any_experiment_has_a_message(experiment_id: str) -> None:
    message: Any = version_of(experiment_id, ITEM).to_proto()
    has_id = message.HasField("experiment_id")
    assert (message.scorer_name, has_id) == ("judge", int(experiment_id) < 2**31)


@pytest.mark.parametrize(
    "serialized",
    ["[]", "null", "5", '"x"', "{", "", "[" * 100_000, '{"third_party_scorer_data": "x"}',
     '{"instructions_judge_pydantic_data": [1]}',
     '{"memory_augmented_judge_data": {"base_judge": 1}}'],
)  # fmt: skip
def test_what_is_no_scorer_is_refused(serialized: str) -> None:
    with pytest.raises(MlflowException, match="serialized_scorer: ") as error:
        endpoint_of_scorer(serialized)
    assert error.value.get_http_status_code() == 400


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


_SCRIPT = """
import sys, time
before = time.process_time()
import vitrine_mlflow
took = time.process_time() - before
import vitrine_mlflow.table
assert took < 0.05, f"{took:.3f} s"
loaded = [name for name in sys.modules if name.split(".")[0] in {"mlflow", "boto3", "flask"}]
assert not loaded, loaded
"""


_FUNCTION = """
import sys
import vitrine_mlflow.archive
assert "mlflow" not in sys.modules
"""


def _run(script: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_importing_takes_under_50_ms_and_loads_no_mlflow() -> None:
    _run(_SCRIPT)


def test_the_function_of_the_archive_loads_no_mlflow() -> None:
    _run(_FUNCTION)


ROOT = Path(__file__).parents[3]
MOST = 10


def test_the_guide_has_the_list_of_the_tests() -> None:
    guide = (ROOT / "docs" / "guides" / "tracking.md").read_text(encoding="utf-8")
    section = guide.partition("## Where it differs from MLflow's SQL store")[2].partition("\n## ")[
        0
    ]
    assert re.findall(r"^\d+\. (.+)$", section, re.MULTILINE) == [
        difference.value for difference in Difference
    ]
    assert len(Difference) <= MOST


def test_each_difference_is_named_where_a_test_leaves_it_out() -> None:
    tests = (ROOT / "tests" / "integration" / "tracking").glob("*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in tests)
    named = set(re.findall(r"\bDifference\.([A-Z_]+)\b", text))
    assert named == set(Difference.__members__)
