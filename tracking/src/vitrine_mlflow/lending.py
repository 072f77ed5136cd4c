"""Limits the addresses that a process stores and uses on behalf of others.

The identity of a tracking server is its operator's, while the addresses that it stores are its
users'. So a server uses `vitrine://` only in the databases that its operator lists, and stores new
addresses only of its own destination and of the locations that its operator lists.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from mlflow.environment_variables import MLFLOW_ENABLE_WORKSPACES
from mlflow.utils.workspace_context import get_request_workspace

from vitrine_mlflow.asset_scheme import ASSET_SCHEME
from vitrine_mlflow.errors import denied_error, invalid

VARIABLE = "VITRINE_MLFLOW_DATABASES"
LOCATIONS = "VITRINE_MLFLOW_LOCATIONS"
# `mlflow server` exports variables of this prefix to its workers, and they to their jobs.
_SERVER_PREFIX = "_MLFLOW_SERVER_"
# Modules that only servers load. MLflow's own are no sign: its client of users loads them, too.
_SERVER_MODULES = ("gunicorn", "waitress", "uwsgi", "mod_wsgi")
_SERVER_COMMANDS = {"uvicorn", "hypercorn", "granian"}
_IS_DATABASE = re.compile(r"[^:]+")
_IS_LOCATION = re.compile(r"(/(?!/)|[A-Za-z][A-Za-z0-9+.-]+:).*")  # a path or a URI


def is_serving() -> bool:
    """Whether this process acts for others: a tracking server, one of its jobs, or `mlflow gc`.

    The settings themselves mark a process, too, so that other services can be bound by the lists.
    """
    flask: Any = sys.modules.get("flask")  # a client may not have it
    click: Any = sys.modules.get("click")
    command = click and click.get_current_context(silent=True)
    return (
        not os.environ.keys().isdisjoint((VARIABLE, LOCATIONS))
        or any(name.startswith(_SERVER_PREFIX) for name in os.environ)
        or any(name in sys.modules for name in _SERVER_MODULES)
        or not _SERVER_COMMANDS.isdisjoint(_command())
        or (flask is not None and bool(flask.has_app_context()))
        # `mlflow gc`, which deletes the artifacts of addresses that others stored
        or (command is not None and command.command.name == "gc")
    )


def _command() -> set[str]:
    """The names of the program: `uvicorn`, or `uvicorn/__main__.py` of `python -m uvicorn`."""
    path = Path(sys.argv[0]) if sys.argv else Path()
    return {path.stem, path.parent.name}


def listed_databases(workspace: str | None = None) -> frozenset[str]:
    """The databases that the operator lists for a workspace, by default that of the request.

    Raises:
        MlflowException: an entry has another form.
    """
    text = os.environ.get(VARIABLE, "").replace(",", " ")
    return _listed(VARIABLE, text, "DATABASE", _IS_DATABASE, workspace)


def listed_locations(workspace: str | None) -> frozenset[str]:
    """The locations that the operator lists for a workspace, by default that of the request.

    Raises:
        MlflowException: an entry has another form.
    """
    return _listed(LOCATIONS, os.environ.get(LOCATIONS, ""), "LOCATION", _IS_LOCATION, workspace)


def _listed(
    variable: str, text: str, kind: str, form: re.Pattern[str], workspace: str | None
) -> frozenset[str]:
    """Return the entries of a list for a workspace."""
    isolated = bool(MLFLOW_ENABLE_WORKSPACES.get())
    entries: set[str] = set()
    for entry in text.split():
        place, _, value = entry.partition(":") if isolated else ("", "", entry)
        if not form.fullmatch(value) or bool(place) != isolated:
            state = "enabled" if isolated else "disabled"
            expected = f"WORKSPACE:{kind}" if isolated else kind
            raise invalid(
                f"{variable}: invalid entry '{entry}'. Workspaces are {state}, so each entry is "
                f"{expected}."
            )
        if place == ((workspace or get_request_workspace() or "") if isolated else ""):
            entries.add(value)
    return frozenset(entries)


def names_vitrine(uri: str) -> bool:
    """Whether MLflow would give this address to Vitrine's repository of artifacts.

    As MLflow reads schemes: in any case, without control characters and leading blanks.
    """
    try:
        return urlsplit(uri.strip()).scheme == ASSET_SCHEME
    except ValueError:
        return ASSET_SCHEME in uri.lower()


def require_lent(uri: str | None, field: str, workspace: str | None = None) -> None:
    """Refuse an address of Vitrine that a server may not use.

    Raises:
        MlflowException: this process serves others, and the database is not listed.
    """
    if uri and names_vitrine(uri) and is_serving():
        _require_listed(uri, field, workspace)


def _require_listed(uri: str, field: str, workspace: str | None) -> None:
    # a scheme in another form has no database, so it is never listed
    database = uri.removeprefix(f"{ASSET_SCHEME}://").partition("/")[0]
    if database in listed_databases(workspace):
        return
    workspace = workspace or get_request_workspace() or ""
    where = f" in the workspace '{workspace}'" if MLFLOW_ENABLE_WORKSPACES.get() else ""
    raise denied_error(
        f"{field} '{uri}': this tracking server may not use this database of Vitrine{where}. "
        f"Its operator lists databases in {VARIABLE}."
    )


def require_source_lent(source: Any, field: str) -> None:
    """Refuse the source of a dataset that contains such an address, in JSON or as it is.

    Raises:
        MlflowException: this process serves others, and a database is not listed.
    """
    if not source or not is_serving():
        return
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except (ValueError, RecursionError):
            source = [source]  # any client may log any text
    for text in _texts(source):
        require_lent(text, field)


def _texts(value: Any) -> Iterator[str]:
    left: list[Any] = [value]
    while left:
        node: Any = left.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            left += cast("dict[str, Any]", node).values()
        elif isinstance(node, list):
            left += cast("list[Any]", node)
