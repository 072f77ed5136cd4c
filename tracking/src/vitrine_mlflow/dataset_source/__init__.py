"""Versions of Vitrine's assets as sources of MLflow's datasets."""

# MLflow loads the class by its entry point while MLflow is imported. So MLflow comes first: then
# the class is complete before this package is, whichever of the two a process imports first.
import mlflow.data  # noqa: F401  # pyright: ignore[reportUnusedImport]

from vitrine_mlflow.dataset_source.source import VitrineDatasetSource

__all__ = ["VitrineDatasetSource"]
