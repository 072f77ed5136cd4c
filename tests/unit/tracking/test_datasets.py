"""Sizes of datasets that runs log."""

import mlflow
import pytest
from mlflow.entities import Dataset
from mlflow.exceptions import MlflowException
from vitrine_mlflow.datasets import require_fitting

assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first


def test_a_dataset_that_exceeds_an_item_is_refused_with_field_size_and_limit() -> None:
    require_fitting(Dataset("d", "1", "local", "{}", None, "p" * 400_000))
    with pytest.raises(MlflowException, match=r"'profile' has 409000\. .* 408000 bytes") as refused:
        require_fitting(Dataset("d", "1", "local", "{}", "s", "p" * 409_000))
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"
    with pytest.raises(MlflowException, match="'schema' has 410000"):
        require_fitting(Dataset("d", "1", "local", "{}", "ü" * 205_000, None))
