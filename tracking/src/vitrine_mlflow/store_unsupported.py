"""Operations of MLflow's SQL store that these stores do not have: clients get a clear reply.

MLflow's base class raises an error of Python for these, which a server reports as a failure of its
own: clients repeat such a request for minutes.
"""

import sys
from collections.abc import Callable
from typing import Any

from mlflow.exceptions import MlflowNotImplementedException
from mlflow.store.tracking.abstract_store import AbstractStore

from vitrine_mlflow.mlflow_api import page_of

# Areas by the words in the names of their methods.
AREAS = {
    "the AI gateway": ("gateway", "endpoint", "guardrail", "budget_polic", "secret_info"),
    "MCP registries": ("mcp_",),
    "label schemas": ("label_schema",),
    "review queues": ("review_queue", "user_queue"),
    "archival of traces by MLflow": ("archive_traces",),
    "trace details of Databricks": ("get_online_trace_details",),
    "unlinking traces from runs": ("unlink_traces_from_run",),
}
_DEMO, _DEMO_OF_QUEUES = "MLflow Demo", "review_queues"
_LISTS = ("list_", "search_", "get_mcp_server_versions_for_trace")


def area_of(name: str) -> str | None:
    """The unsupported area to which a method of MLflow's store belongs, None for all others."""
    if name.startswith("_"):
        return None
    return next((area for area, words in AREAS.items() if any(w in name for w in words)), None)


def _unsupported(name: str, area: str) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> Any:
        if name.startswith(_LISTS):
            return page_of([], None)
        raise MlflowNotImplementedException(f"This tracking store does not support {area}.")

    method.__name__ = name
    return method


def require_no_demo(name: str) -> None:
    """Refuse a request for MLflow's demo, which first looks for its experiment.

    Otherwise the request would end at its last feature, and leave the others behind.

    Raises:
        MlflowNotImplementedException: the demo would have what is unsupported.
    """
    flask: Any = sys.modules.get("flask")  # a client may not have it
    if name != _DEMO or flask is None or not flask.has_request_context():
        return
    body: Any = flask.request.get_json(silent=True) or {}
    features = body.get("features")
    unsupported = features is None or _DEMO_OF_QUEUES in features
    if unsupported and flask.request.path.endswith("/demo/generate"):
        raise MlflowNotImplementedException(
            "This tracking store does not support review queues, which the demo has. Name other "
            "features of it: traces, evaluation, prompts, judges."
        )


class UnsupportedMethods(AbstractStore):
    """Lists are empty; everything else is refused with one sentence."""


for _name in dir(AbstractStore):
    if (_area := area_of(_name)) is not None:
        setattr(UnsupportedMethods, _name, _unsupported(_name, _area))
