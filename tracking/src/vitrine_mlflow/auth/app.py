"""MLflow's basic-auth app with its users and permissions in the table.

`mlflow server --app-name dynamodb-auth`
"""

import os
from typing import Any

from vitrine_mlflow.auth.store import DynamoAuthStore
from vitrine_mlflow.json_errors import with_json_errors
from vitrine_mlflow.uri import SCHEME

_SHIPPED_DATABASE = "sqlite:///basic_auth.db"  # in MLflow's own basic_auth.ini


def create_app(app: Any = None) -> Any:
    """The app of MLflow's server with authentication.

    Users are in the `database_uri` of MLflow's configuration of basic-auth, or in the backend
    store if that is only the file that MLflow ships.
    """
    from mlflow import server  # noqa: PLC0415 - reads the environment
    from mlflow.server import auth  # noqa: PLC0415
    from mlflow.server.constants import BACKEND_STORE_URI_ENV_VAR  # noqa: PLC0415

    module: Any = auth
    backend = os.environ.get(BACKEND_STORE_URI_ENV_VAR, "")
    config = module.auth_config
    if config.database_uri == _SHIPPED_DATABASE and backend.startswith(f"{SCHEME}:"):
        module.auth_config = config._replace(database_uri=backend)
    module.store = DynamoAuthStore()
    flask_app = server.app if app is None else app
    return with_json_errors(module.create_app(flask_app), flask_app)
