"""New addresses: those that a server must not store for its users, and malformed ones."""

import os
import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from mlflow.exceptions import MlflowException

from vitrine_mlflow.errors import denied_error, invalid
from vitrine_mlflow.lending import (
    LOCATIONS,
    is_serving,
    listed_locations,
    names_vitrine,
    require_lent,
)
from vitrine_mlflow.mlflow_api import local_uri, validate_run_id
from vitrine_mlflow.vitrine_link import AssetAddress

# MLflow resolves these itself, within the rights of the request.
_RESOLVED_SCHEMES = {"mlflow-artifacts", "runs", "models"}
# What MLflow's clients and pages store as the source of a prompt; no file is ever read there.
_PROMPT_SOURCES = {"dummy-source", "prompt-template"}
_HAS_PATH_ONLY = re.compile(r"(//[^/?#]*)?/(?!/)[^?#]*", re.DOTALL)
_DESTINATIONS = ("_MLFLOW_SERVER_ARTIFACT_ROOT", "_MLFLOW_SERVER_ARTIFACT_DESTINATION")


def require_folder(
    uri: str | None,
    field: str,
    root: str = "",
    workspace: str | None = None,
    *,
    is_shown: bool = True,
) -> None:
    """Refuse what `require_storable` refuses, and addresses below which nothing can be written.

    Raises:
        MlflowException: a path appended to the address would not be below it, or as above.
    """
    if uri and (scheme := _scheme(uri)) in {"runs", "models"}:
        raise invalid(
            f"{field} '{uri}': no artifacts can be stored below an address of {scheme}:. Use an "
            "address of mlflow-artifacts:, or leave the location out."
        )
    require_storable(uri, field, root, workspace, is_shown=is_shown)


def require_source(uri: str, field: str) -> None:
    """Refuse what `require_storable` refuses, and addresses of runs that name none.

    Raises:
        MlflowException: the address names no run, or as above.
    """
    if uri in _PROMPT_SOURCES:
        return
    require_storable(uri, field)
    if _scheme(uri) != "runs":
        return
    try:
        before, _, path = urlsplit(uri).path.partition("/")
        validate_run_id("" if before else path.partition("/")[0])
    except MlflowException as error:
        raise invalid(f"{field} '{uri}': {error.message} Expected runs:/RUN_ID/PATH.") from error


def _scheme(uri: str) -> str:
    try:
        return urlsplit(uri.strip()).scheme
    except ValueError:
        return ""


def require_storable(
    uri: str | None,
    field: str,
    root: str = "",
    workspace: str | None = None,
    *,
    is_shown: bool = True,
) -> None:
    """Refuse a new address that cannot be used, or that a server must not store for its users.

    Args:
        uri: The address.
        field: What the error names.
        root: The root of artifacts of the store.
        workspace: The workspace of the address, by default that of the request.
        is_shown: Whether the error has the address: what is stored may be a path of the server.

    Raises:
        MlflowException: the address is malformed, or this process serves others, and the address
            is neither of its own destination nor listed.
    """
    if not uri:
        return
    if names_vitrine(uri):
        require_lent(uri, field, workspace)
        AssetAddress.parse(uri)
        return
    # MLflow appends what follows to the path, and leaves out the rest.
    if _scheme(uri) == "mlflow-artifacts" and not _HAS_PATH_ONLY.fullmatch(uri.partition(":")[2]):
        raise invalid(f"{field} '{uri}': expected mlflow-artifacts:/PATH, without a query.")
    if not is_serving():
        return
    address = _Address.parse(uri)
    if address is not None:
        if address.scheme in _RESOLVED_SCHEMES and not address.host:
            return
        own = [root, *(os.environ.get(name, "") for name in _DESTINATIONS)]
        for place in (*own, *listed_locations(workspace)):
            if place and address.is_in(_Address.parse(place)):
                return
    subject = f"{field} '{uri}'" if is_shown else field
    raise denied_error(
        f"{subject}: this tracking server stores no new address outside its own artifacts. "
        "Use an address of mlflow-artifacts:, leave the location out, or name a model's source by "
        "runs: or models:. "
        f"The server's operator lists other locations in {LOCATIONS}."
    )


class _Address(NamedTuple):
    """The parts of an address by which it is compared."""

    scheme: str
    host: str
    segments: tuple[str, ...]

    @classmethod
    def parse(cls, uri: str) -> "_Address | None":
        """Parse an address; None if programs may read it in different ways."""
        if uri != uri.strip() or not uri.isprintable() or "\\" in uri:
            return None
        try:
            parts = urlsplit(local_uri(uri))
        except (ValueError, MlflowException):
            return None
        path = parts.path
        while path != (decoded := unquote(path)):
            path = decoded
        segments = tuple(segment for segment in path.split("/") if segment)
        if not {".", ".."}.isdisjoint(segments) or ".." in uri.split("/"):
            return None
        if parts.scheme in {"", "file"}:
            return cls("file", parts.netloc.replace("localhost", ""), segments)
        return cls(parts.scheme, parts.netloc, segments)

    def is_in(self, place: "_Address | None") -> bool:
        """Whether the address is a place or below it."""
        return (
            place is not None
            and (self.scheme, self.host) == place[:2]
            and (self.segments[: len(place.segments)] == place.segments)
        )
