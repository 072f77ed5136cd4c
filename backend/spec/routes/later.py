"""Routes of VAMS 2.6 that its release 2.5.1 does not have and this API does not serve.

They respond 501 with the served route for the same purpose. API Gateway has one greedy pattern
where 2.5.1 has no route below a path, and single routes elsewhere.
"""

from typing import NamedTuple

from backend.spec.routes.assets import DELETE_ASSET
from backend.spec.routes.executions import (
    GET_EXECUTION,
    LIST_EXECUTIONS,
    RERUN_EXECUTION,
    START_EXECUTION,
    STOP_EXECUTION,
)
from backend.spec.routes.model import Method, Route
from backend.spec.routes.workflows import GET_PIPELINE, GET_WORKFLOW, PUT_PIPELINE, PUT_WORKFLOW
from backend.spec.versions import LATER_VERSION

_TEMPLATES = f"{GET_PIPELINE.path}/templates"
_TEMPLATE = f"{_TEMPLATES}/{{templateId}}"
_TAG_SCHEMA = f"{_TEMPLATE}/tagSchema"
_TRIGGERS = f"{GET_WORKFLOW.path}/triggers"
_TRIGGER = f"{_TRIGGERS}/{{triggerType}}"
_EXECUTIONS = "/workflows/executions"
_EXECUTION = f"{_EXECUTIONS}/{{executionId}}"

_BELOW = ("/workflows", GET_PIPELINE.path, GET_WORKFLOW.path)
"""Paths below which 2.5.1 has no route."""


class LaterRoute(NamedTuple):
    """A route that is not served, and the `served` one with which to do this `instead`."""

    method: Method
    path: str
    part: str
    instead: str
    served: Route

    @property
    def sentence(self) -> str:
        """Return what a client reads."""
        return (
            f"{self.method} {self.path} of VAMS {LATER_VERSION} is not served: "
            f"{self.instead} with {self.served.key}"
        )

    @property
    def pattern(self) -> str:
        """Return the path in API Gateway."""
        below = (base for base in _BELOW if self.path.startswith(f"{base}/"))
        return next((f"{base}/{{proxy+}}" for base in below), self.path)

    @property
    def gateway_key(self) -> str:
        """Return the route key in API Gateway."""
        return f"{self.method if self.pattern == self.path else 'ANY'} {self.pattern}"


def _pipelines(method: Method, path: str, instead: str, served: Route) -> LaterRoute:
    return LaterRoute(method, path, "pipelines", instead, served)


def _workflows(method: Method, path: str, instead: str, served: Route) -> LaterRoute:
    return LaterRoute(method, path, "workflows", instead, served)


def _executions(method: Method, path: str, instead: str, served: Route) -> LaterRoute:
    return LaterRoute(method, path, "executions", instead, served)


_SET_PARAMETERS = "set inputParameters of the pipeline"
_READ_PARAMETERS = "read inputParameters of the pipeline"
_SET_EXTENSIONS = "set autoTriggerOnFileExtensionsUpload of the workflow"
_READ_EXTENSIONS = "read autoTriggerOnFileExtensionsUpload of the workflow"

LATER_ROUTES = (
    _pipelines("POST", "/database/{databaseId}/pipelines", "create a pipeline", PUT_PIPELINE),
    _pipelines("PUT", GET_PIPELINE.path, "change a pipeline", PUT_PIPELINE),
    _pipelines("GET", _TEMPLATES, _READ_PARAMETERS, GET_PIPELINE),
    _pipelines("POST", _TEMPLATES, _SET_PARAMETERS, PUT_PIPELINE),
    _pipelines("GET", _TEMPLATE, _READ_PARAMETERS, GET_PIPELINE),
    _pipelines("PUT", _TEMPLATE, _SET_PARAMETERS, PUT_PIPELINE),
    _pipelines("DELETE", _TEMPLATE, _SET_PARAMETERS, PUT_PIPELINE),
    _pipelines("GET", _TAG_SCHEMA, _READ_PARAMETERS, GET_PIPELINE),
    _pipelines("PUT", _TAG_SCHEMA, _SET_PARAMETERS, PUT_PIPELINE),
    _workflows("POST", "/database/{databaseId}/workflows", "create a workflow", PUT_WORKFLOW),
    _workflows("PUT", GET_WORKFLOW.path, "change a workflow", PUT_WORKFLOW),
    _workflows("GET", _TRIGGERS, _READ_EXTENSIONS, GET_WORKFLOW),
    _workflows("GET", _TRIGGER, _READ_EXTENSIONS, GET_WORKFLOW),
    _workflows("PUT", _TRIGGER, _SET_EXTENSIONS, PUT_WORKFLOW),
    _workflows("DELETE", _TRIGGER, _SET_EXTENSIONS, PUT_WORKFLOW),
    _executions(
        "POST", "/workflows/{workflowDatabaseId}/{workflowId}/execute",
        "run a workflow on one asset or its files", START_EXECUTION,
    ),
    _executions("GET", _EXECUTIONS, "list the executions on one asset", LIST_EXECUTIONS),
    _executions("DELETE", _EXECUTION, "stop an execution", STOP_EXECUTION),
    _executions("GET", f"{_EXECUTION}/details", "read an execution", GET_EXECUTION),
    _executions(
        "GET", f"{_EXECUTION}/details/metadata", "read the input of an execution", GET_EXECUTION
    ),
    _executions(
        "GET", f"{_EXECUTION}/logs", "read the error and the log link of an execution",
        GET_EXECUTION,
    ),
    _executions("POST", f"{_EXECUTION}/rerun", "start an execution again", RERUN_EXECUTION),
    _executions(
        "DELETE", f"{_EXECUTION}/permanent", "delete executions with their asset", DELETE_ASSET
    ),
)  # fmt: skip

GATEWAY_KEYS = tuple(dict.fromkeys(route.gateway_key for route in LATER_ROUTES))
"""Their route keys in API Gateway."""

LATER_PARTS = tuple(dict.fromkeys(route.part for route in LATER_ROUTES))
"""Parts of the later release that are not served."""


def find_later(method: str, pattern: str, below: str) -> LaterRoute | None:
    """Return the route for a request to a pattern, with the path that its greedy variable took."""
    sent = pattern.replace("{proxy+}", below).split("/")
    for route in LATER_ROUTES:
        if (route.method, route.pattern) == (method, pattern):
            parts = route.path.split("/")
            pairs = zip(parts, sent, strict=False)
            if len(parts) == len(sent) and all(
                name == text or (name.startswith("{") and text) for name, text in pairs
            ):
                return route
    return None
