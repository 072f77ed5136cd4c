"""The address and key of the command, and the file in which `login` stores them.

In this order: options, the file of `--endpoint`, VITRINE_API and VITRINE_API_KEY, the file of
VITRINE_ENDPOINT, the data stored by `login`. A stored key is only sent to the address with which it
was stored.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from platformdirs import user_config_path
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from vitrine.errors import ConfigurationError

API_VARIABLE: Final = "VITRINE_API"
KEY_VARIABLE: Final = "VITRINE_API_KEY"
ENDPOINT_VARIABLE: Final = "VITRINE_ENDPOINT"


class Connection(BaseModel):
    """An address and its credentials."""

    model_config = ConfigDict(frozen=True)

    api: str
    key: str | None = None
    admin: str | None = None
    """The admin port of the local runtime. Deployments have none."""
    event_feed: str | None = None
    """The queue that receives the events of a local runtime."""


class EndpointFile(BaseModel):
    """The file that a local runtime writes for scripts; only the used fields."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore", frozen=True)

    api: str
    admin_api_key: str
    admin: str
    event_feed: str | None = None


def default_path() -> Path:
    return user_config_path("vitrine") / "login.json"


def read_endpoint(path: Path) -> Connection:
    """Return the connection to a local runtime.

    Raises:
        ConfigurationError: the file does not exist, or is not an endpoint file.
    """
    try:
        endpoint = EndpointFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ConfigurationError(f"{path} does not exist: is the runtime running?") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path} is not an endpoint file of a runtime") from error
    return Connection(
        api=endpoint.api,
        key=endpoint.admin_api_key,
        admin=endpoint.admin,
        event_feed=endpoint.event_feed,
    )


def read_login(path: Path) -> Connection | None:
    """Return the connection stored by `login`; None without one.

    Raises:
        ConfigurationError: the file cannot be read or parsed.
    """
    try:
        return Connection.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path} is damaged: log in again") from error


def binary_flag() -> int:
    """Return the flag without which Windows would write each newline as two characters."""
    return getattr(os, "O_BINARY", 0)


def write_login(path: Path, connection: Connection) -> None:
    """Store it for this user only, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary_flag(), 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(connection.model_dump_json(exclude_none=True))
    fresh.replace(path)


def resolve(
    *,
    api: str | None,
    key: str | None,
    endpoint: Path | None,
    environment: Mapping[str, str],
    login: Path,
) -> Connection:
    """Return the connection for these options and this environment.

    Raises:
        ConfigurationError: there is none, or a named file cannot be used.
    """
    base = _base(api=api, endpoint=endpoint, environment=environment, login=login)
    if base is None and api is None:
        raise ConfigurationError(
            f"no API address: use `vitrine login`, --api, --endpoint, {API_VARIABLE} or "
            f"{ENDPOINT_VARIABLE}"
        )
    if base is None or (api is not None and api.rstrip("/") != base.api.rstrip("/")):
        return Connection(api=str(api), key=key or environment.get(KEY_VARIABLE) or None)
    return base if key is None else base.model_copy(update={"key": key})


def _base(
    *, api: str | None, endpoint: Path | None, environment: Mapping[str, str], login: Path
) -> Connection | None:
    if endpoint is not None:
        return read_endpoint(endpoint)
    variable_key = environment.get(KEY_VARIABLE) or None
    if variable := environment.get(API_VARIABLE):
        stored = read_login(login) if variable_key is None else None
        known = stored.key if stored and stored.api.rstrip("/") == variable.rstrip("/") else None
        return Connection(api=variable, key=variable_key or known)
    if file := environment.get(ENDPOINT_VARIABLE):
        connection = read_endpoint(Path(file))
    elif (stored := read_login(login)) is not None:
        connection = stored
    else:
        return None
    if variable_key and api is None:
        return connection.model_copy(update={"key": variable_key})
    return connection
