"""Files and versions of Vitrine's assets under addresses as MLflow uses them.

`vitrine://DATABASE/ASSET[@VERSION][/PATH]`; without a version, the files as they are now.
"""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import (
    INTERNAL_ERROR,
    PERMISSION_DENIED,
    RESOURCE_DOES_NOT_EXIST,
)

from vitrine_mlflow.asset_scheme import ASSET_SCHEME
from vitrine_mlflow.encoding import digest
from vitrine_mlflow.errors import denied_error, invalid, missing_error
from vitrine_mlflow.lending import is_serving

if TYPE_CHECKING:
    from vitrine import Vitrine

_FORM = f"{ASSET_SCHEME}://DATABASE/ASSET[@VERSION][/PATH]"
_INSTALL = "addresses of Vitrine need its client: pip install 'vitrine-mlflow[assets]'"


@dataclass(frozen=True)
class AssetAddress:
    """A file, a folder or all of an asset, perhaps in one of its versions."""

    database: str
    asset: str
    version: str | None = None
    path: str = ""  # without slashes at its ends

    @classmethod
    def parse(cls, uri: str) -> "AssetAddress":
        """Parse an address. Nothing in it is percent-encoded.

        Its path is composed (NFC), as stored paths are: macOS names files in another form.

        Raises:
            MlflowException: it has another form.
        """
        scheme, separator, rest = uri.partition("://")
        database, _, rest = rest.partition("/")
        asset, _, path = rest.strip("/").partition("/")
        asset, at, version = asset.partition("@")
        segments = [
            database,
            asset,
            *([version] if version else []),
            *(path.split("/") if path else []),
        ]
        if scheme != ASSET_SCHEME or not separator or not {"", ".", ".."}.isdisjoint(segments):
            raise invalid(f"Invalid address '{uri}'. Expected {_FORM}.")
        if at and not version:
            raise invalid(f"The address '{uri}' has no version after its '@'.")
        return cls(database, asset, version or None, normalize("NFC", path))

    @property
    def uri(self) -> str:
        version = f"@{self.version}" if self.version else ""
        path = f"/{self.path}" if self.path else ""
        return f"{ASSET_SCHEME}://{self.database}/{self.asset}{version}{path}"


@dataclass(frozen=True)
class AssetFile:
    path: str  # in the asset, without a leading slash
    size: int | None
    version_id: str | None  # of the object in S3


def connect() -> "Vitrine":
    """The client of the deployment that the environment or `vitrine login` names.

    A process that serves others never uses the login, which is that of a person.

    Raises:
        MlflowException: the client is not installed, or nothing names a deployment.
    """
    try:
        from vitrine import Vitrine, config  # noqa: PLC0415 - optional, and not needed by stores
        from vitrine.errors import ConfigurationError  # noqa: PLC0415
    except ImportError as error:
        raise invalid(_INSTALL) from error
    if is_serving():
        api, key, endpoint = config.API_VARIABLE, config.KEY_VARIABLE, config.ENDPOINT_VARIABLE
        # without these, the client would read the login
        if not os.environ.get(key if os.environ.get(api) else endpoint):
            raise denied_error(
                f"A tracking server does not use the login of `vitrine login`: set {api} and "
                f"{key}, or {endpoint} alone, in its environment."
            )
    try:
        connection = config.resolve(
            api=None,
            key=None,
            endpoint=None,
            environment=os.environ,
            login=config.default_path(),
        )
    except ConfigurationError as error:
        raise invalid(f"No Vitrine deployment to read assets of: {error}") from error
    return Vitrine(connection.api, connection.key)


@contextmanager
def report_errors(address: AssetAddress) -> Generator[None]:
    """Report failures of the deployment as MLflow's errors that name the address.

    Raises:
        MlflowException: the deployment refused, failed, or could not be reached.
    """
    from vitrine.errors import (  # noqa: PLC0415 - optional
        InvalidInputError,
        InvalidNameError,
        NotFoundError,
        PermissionDeniedError,
        UnauthenticatedError,
        VitrineError,
    )

    try:
        yield
    except NotFoundError as error:
        raise MlflowException(f"{address.uri}: {error}", RESOURCE_DOES_NOT_EXIST) from error
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise MlflowException(f"{address.uri}: {error}", PERMISSION_DENIED) from error
    except (InvalidInputError, InvalidNameError) as error:
        raise invalid(f"{address.uri}: {error}") from error
    except VitrineError as error:
        raise MlflowException(f"{address.uri}: {error}", INTERNAL_ERROR) from error


@dataclass(frozen=True)
class AssetUse:
    """The version of an asset that a dataset names as its source."""

    address: AssetAddress
    digest: str

    @classmethod
    def of(cls, source_type: str, source: str) -> "AssetUse | None":
        """The use in a dataset's source, None if it is no such source."""
        if source_type != ASSET_SCHEME:
            return None
        # Any client may log any text as a source: one that cannot be read is no use of an asset.
        try:
            fields = json.loads(source)
        except (ValueError, RecursionError):  # deep nesting exhausts the parser's stack
            return None
        match fields:
            case {"uri": str(uri), "digest": str(text)}:
                return cls.parse(uri, text)
            case _:
                return None

    @classmethod
    def parse(cls, uri: str, text: str) -> "AssetUse | None":
        """The use of an address with a digest, None if the address has another form."""
        try:
            return cls(AssetAddress.parse(uri), text)
        except MlflowException:
            return None


class Asset:
    """The asset that an address names, read from a deployment."""

    def __init__(self, client: "Vitrine", address: AssetAddress) -> None:
        self._client = client
        self.address = address

    def pin_version(self) -> "Asset":
        """Return this asset in its current version, if the address has no version."""
        if self.address.version:
            return self
        address = self.address
        with report_errors(address):
            asset = self._client.assets.get(address.database, address.asset)
        version = asset.current_version.version if asset.current_version else None
        if version is None:
            raise missing_error(f"{address.uri}: the asset has no version")
        return Asset(self._client, replace(address, version=version))

    @cached_property
    def files(self) -> list[AssetFile]:
        """The files at or below the address, by path."""
        inside = self.address.path
        return sorted(
            (
                file
                for file in self._all()
                if not inside or file.path == inside or file.path.startswith(f"{inside}/")
            ),
            key=lambda file: file.path,
        )

    def _all(self) -> list[AssetFile]:
        address = self.address
        ids = (address.database, address.asset)
        with report_errors(address):
            if address.version:
                whole = self._client.versions.get(ids, address.version)
                return [
                    AssetFile(file.relative_key.lstrip("/"), file.size, file.version_id)
                    for file in whole.files
                ]
            listed = self._client.files.list(*ids, basic=True, page_size=1_500)
            return [
                AssetFile(item.relative_path.lstrip("/"), item.size, item.version_id)
                for item in listed
                if not item.is_folder and not item.is_archived
            ]

    def digest(self) -> str:
        """A digest of paths, sizes and object versions: equal only if all contents are."""
        return digest(*(f"{file.path}\0{file.size}\0{file.version_id}" for file in self.files))

    def download(self, target: Path) -> None:
        """Write the file at the address to a path, whole or not at all.

        Raises:
            MlflowException: there is no such file, or it could not be read.
        """
        from vitrine.resources.streams import Source  # noqa: PLC0415 - optional

        address = self.address
        source = Source(
            database_id=address.database,
            asset_id=address.asset,
            path=f"/{address.path}",
            asset_version_id=address.version,
        )
        partial = target.with_name(f".{target.name}.part")
        try:
            with (
                report_errors(address),
                self._client.streams.open(source) as pieces,
                partial.open("wb") as file,
            ):
                file.writelines(pieces)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
