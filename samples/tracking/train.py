"""Train a small model, log and register it, and find it again.

The environment variable MLFLOW_TRACKING_URI names a server, or a table as dynamodb://TABLE.
"""

# ruff: noqa: T201 - it prints what it found
# pyright: basic

import argparse
from typing import Any

import mlflow
import numpy as np
from mlflow import sklearn as mlflow_sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

EXPERIMENT, MODEL = "irises", "iris-classifier"


def train(strength: float) -> None:
    """Train once: params, a metric for each step, and the model."""
    features, labels = load_iris(return_X_y=True)
    parts = train_test_split(features, labels, random_state=1)
    model = LogisticRegression(C=strength, max_iter=500)
    with mlflow.start_run(run_name=f"C = {strength}"):
        mlflow.log_param("C", strength)
        for step, share in enumerate((0.2, 0.5, 1.0)):
            size = int(len(parts[0]) * share)
            model.fit(parts[0][:size], parts[2][:size])
            mlflow.log_metric("accuracy", float(model.score(parts[1], parts[3])), step=step)
        mlflow_sklearn.log_model(
            model,
            name="model",
            registered_model_name=MODEL,
            input_example=np.array(parts[1][:1]),
            serialization_format="cloudpickle",  # MLflow's default needs the package skops
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--artifacts", help="where the experiment's artifacts are stored")
    artifacts = parser.parse_args().artifacts
    if mlflow.get_experiment_by_name(EXPERIMENT) is None:
        mlflow.create_experiment(EXPERIMENT, artifact_location=artifacts)
    mlflow.set_experiment(EXPERIMENT)
    for strength in (0.01, 0.1, 1.0):
        train(strength)

    runs = mlflow.search_runs(
        experiment_names=[EXPERIMENT],
        filter_string="metrics.accuracy > 0.5",
        order_by=["metrics.accuracy DESC"],
        output_format="list",
    )
    for run in runs:
        print(f"{run.info.run_name}: accuracy {run.data.metrics['accuracy']:.3f}")
    client = mlflow.MlflowClient()
    best = runs[0].info.run_id
    (version,) = client.search_model_versions(f"run_id = '{best}'")
    client.set_registered_model_alias(MODEL, "best", version.version)
    loaded: Any = mlflow_sklearn.load_model(f"models:/{MODEL}@best")
    features, labels = load_iris(return_X_y=True)
    print(f"{MODEL} version {version.version} is the best: {loaded.score(features, labels):.3f}")


main()
