"""MLflow's server, with failures of its own handlers in the form of its API instead of HTML.

`mlflow server --app-name dynamodb`
"""

from typing import Any

from flask import Flask
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import BAD_REQUEST, ENDPOINT_NOT_FOUND, INTERNAL_ERROR
from werkzeug.exceptions import HTTPException, InternalServerError

_SERVER_ERROR = 500
_ABSENT = 404


def create_app() -> Any:
    """Return the app of MLflow's server, for uvicorn."""
    # The imports create the apps, by the environment.
    from mlflow.server import app as flask_app  # noqa: PLC0415
    from mlflow.server.fastapi_app import app  # noqa: PLC0415

    return with_json_errors(app, flask_app)


def with_json_errors(app: Any, flask_app: Flask) -> Any:
    """Let both apps of a server reply to refusals and failures with JSON."""
    from mlflow.server.mlflow_response import mlflow_exception_response  # noqa: PLC0415

    async def failed(request: Any, error: Exception) -> Any:
        name = f"{request.method} {request.url.path} ({type(error).__name__})"
        # Without the error's own text, which may name files of the server, as Flask's reply.
        text = str(InternalServerError.description)
        return mlflow_exception_response(_error(_SERVER_ERROR, text), handler_name=name)

    flask_app.register_error_handler(HTTPException, _reply)
    flask_app.after_request(_without_html)
    if app is not flask_app:
        app.add_exception_handler(Exception, failed)
    return app


def _reply(error: HTTPException) -> Any:
    """Flask passes a failure that nothing caught as an HTTPException of status 500."""
    response: Any = error.get_response()
    if response.status_code >= 400:
        fact = _error(response.status_code, error.description or error.name)
        response.set_data(fact.serialize_as_json())
        response.content_type = "application/json"
    return response


def _without_html(response: Any) -> Any:
    """Some of MLflow's handlers return a refusal as text that is named HTML, or an empty one."""
    if response.status_code >= 400 and response.mimetype == "text/html":
        text = response.get_data(as_text=True) or response.status
        response.set_data(_error(response.status_code, text).serialize_as_json())
        response.content_type = "application/json"
    return response


def _error(status: int, message: str) -> MlflowException:
    if status >= _SERVER_ERROR:
        return MlflowException(message, INTERNAL_ERROR)
    return MlflowException(message, ENDPOINT_NOT_FOUND if status == _ABSENT else BAD_REQUEST)
