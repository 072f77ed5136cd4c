"""A client of MLflow's fluent API: trains with autolog, registers, traces, and reads the results.

It runs as a process of its own, because autolog changes classes of scikit-learn. It prints ids as
JSON.
"""

# pyright: basic

import json
import sys
from typing import Any

import mlflow
import mlflow.artifacts
from mlflow import sklearn as mlflow_sklearn
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV


def train() -> str:
    mlflow.set_experiment("flowers")
    mlflow_sklearn.autolog(log_input_examples=False)
    features, labels = load_iris(return_X_y=True, as_frame=True)
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}, cv=2)
    with mlflow.start_run(run_name="grid") as run:
        search.fit(features, labels)
        mlflow.log_metric("extra", 0.25, step=3)
        mlflow.log_dict({"labels": 3}, "about.json")
        mlflow.set_tag("colour", "blue")
    return run.info.run_id


def register(run_id: str) -> str:
    version = mlflow.register_model(f"runs:/{run_id}/best_estimator", "flower-model")
    mlflow.MlflowClient().set_registered_model_alias("flower-model", "best", version.version)
    features, labels = load_iris(return_X_y=True, as_frame=True)
    model: Any = mlflow_sklearn.load_model("models:/flower-model@best")
    assert (model.predict(features) == labels).mean() > 0.9
    return str(version.version)


def trace() -> str:
    @mlflow.trace(name="answer")
    def answer(question: str) -> str:
        with mlflow.start_span("look up") as span:
            span.set_inputs({"question": question})
        return "42"

    answer("why")
    mlflow.flush_trace_async_logging()
    trace_id = mlflow.get_last_active_trace_id()
    assert trace_id
    traces = mlflow.search_traces(return_type="list")
    assert [item.info.trace_id for item in traces] == [trace_id]
    assert [span.name for span in traces[0].data.spans] == ["answer", "look up"]
    mlflow.log_feedback(trace_id=trace_id, name="right", value=True)
    return trace_id


def read_back(run_id: str) -> None:
    table = mlflow.search_runs(
        experiment_names=["flowers"],
        filter_string="metrics.training_score > 0.5 AND tags.colour = 'blue'",
        order_by=["metrics.extra DESC"],
    )
    assert list(table["run_id"]) == [run_id], table
    children = mlflow.search_runs(
        experiment_names=["flowers"], filter_string=f"tags.`mlflow.parentRunId` = '{run_id}'"
    )
    assert len(children) == 2, children
    inputs: Any = mlflow.get_run(run_id).inputs
    assert inputs.dataset_inputs
    assert mlflow.artifacts.load_dict(f"runs:/{run_id}/about.json") == {"labels": 3}


def main() -> None:
    run_id = train()
    version = register(run_id)
    trace_id = trace()
    read_back(run_id)
    json.dump({"run_id": run_id, "version": version, "trace_id": trace_id}, sys.stdout)


if __name__ == "__main__":
    main()
