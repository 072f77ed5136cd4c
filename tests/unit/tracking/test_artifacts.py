"""Artifacts of assets, and links to them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal
from unicodedata import normalize

import mlflow
import pytest
from mlflow.exceptions import MlflowException
from vitrine.errors import ApiError, ErrorBody, NotFoundError, PermissionDeniedError, VitrineError
from vitrine_mlflow.artifacts import VitrineArtifactRepository
from vitrine_mlflow.vitrine_link import AssetAddress, AssetUse, connect

assert mlflow.__version__


class _Client:
    """A deployment that answers every request with one error."""

    def __init__(self, error: VitrineError) -> None:
        self.error = error
        self.assets = self.files = self.versions = self

    def list(self, *_: str, **__: object) -> Iterator[Any]:
        raise self.error
        yield

    def get(self, *_: object) -> Any:
        raise self.error


def _repository(uri: str, error: VitrineError) -> VitrineArtifactRepository:
    client: Any = _Client(error)
    return VitrineArtifactRepository(uri, client=client)


def _error(kind: type[VitrineError]) -> VitrineError:
    if issubclass(kind, ApiError):
        return kind(status=404, body=ErrorBody(message="Asset 'runs' not found"))
    return kind("no answer")


def test_before_the_first_artifact_the_list_is_empty_and_a_deletion_does_nothing() -> None:
    repository = _repository("vitrine://db/runs", _error(NotFoundError))
    assert repository.list_artifacts() == repository.list_artifacts("model/data") == []
    below = _repository("vitrine://db/runs/1/abc/artifacts", _error(NotFoundError))
    assert below.list_artifacts() == below.list_artifacts("model") == []
    below.delete_artifacts()  # as `mlflow gc` does for a run
    below.delete_artifacts("model")


@pytest.mark.parametrize(
    ("uri", "kind", "code"),
    [
        ("vitrine://db/runs@3", NotFoundError, "RESOURCE_DOES_NOT_EXIST"),
        ("vitrine://db/runs", PermissionDeniedError, "PERMISSION_DENIED"),
        ("vitrine://db/runs", VitrineError, "INTERNAL_ERROR"),
    ],
)
def test_other_failures_are_reported(uri: str, kind: type[VitrineError], code: str) -> None:
    with pytest.raises(MlflowException) as raised:
        _repository(uri, _error(kind)).list_artifacts()
    assert raised.value.error_code == code


class _Stored:
    """A deployment with one file in a folder."""

    def __init__(self) -> None:
        self.files = self
        self.deleted = list[str]()

    def list(self, *_: str, **__: object) -> Iterator[Any]:
        yield SimpleNamespace(
            relative_path="/Ordnér/Größe.txt",
            size=2,
            version_id="1",
            is_folder=False,
            is_archived=False,
        )

    def delete(self, _asset: object, path: str, *, folder: bool) -> None:
        assert folder
        self.deleted.append(path)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_paths_name_files_in_both_unicode_forms(form: Literal["NFC", "NFD"]) -> None:
    client: Any = _Stored()
    folder = normalize(form, "Ordnér")
    for uri, path in (("vitrine://db/a", folder), (f"vitrine://db/a/{folder}", None)):
        repository = VitrineArtifactRepository(uri, client=client)
        assert [
            artifact.path.rsplit("/", 1)[-1] for artifact in repository.list_artifacts(path)
        ] == ["Größe.txt"]
        repository.delete_artifacts(path)
    assert client.deleted == ["/Ordnér", "/Ordnér"]


assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("vitrine://db/asset", AssetAddress("db", "asset")),
        ("vitrine://db/asset/", AssetAddress("db", "asset")),
        ("vitrine://db/asset@12", AssetAddress("db", "asset", "12")),
        ("vitrine://db/asset@12/a/b c%#?@.glb", AssetAddress("db", "asset", "12", "a/b c%#?@.glb")),
        ("vitrine://DB/asset/a@b", AssetAddress("DB", "asset", None, "a@b")),
    ],
)
def test_an_address_is_parsed_and_built(uri: str, address: AssetAddress) -> None:
    assert AssetAddress.parse(uri) == address
    assert AssetAddress.parse(address.uri) == address


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "vitrine:db/asset",
        "s3://db/asset",
        "vitrine://",
        "vitrine://db",
        "vitrine:///asset",
        "vitrine://db/@1",
        "vitrine://db/asset@/x",
        "vitrine://db/asset/a//b",
        "vitrine://db/asset/../other",
        "vitrine://db/..",
        "vitrine://../asset",
        "vitrine://db/.@1",
        "vitrine://db/asset@..",
    ],
)
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(MlflowException) as refused:
        AssetAddress.parse(uri)
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"


def test_a_source_names_an_asset_only_if_it_can_be_read() -> None:
    source = json.dumps({"uri": "vitrine://db/asset@3/x", "digest": "abc"})
    use = AssetUse.of("vitrine", source)
    assert use == AssetUse(AssetAddress("db", "asset", "3", "x"), "abc")
    for kind, text in (
        ("s3", source),
        ("vitrine", "no json"),
        ("vitrine", "[]"),
        ("vitrine", "{}"),
        ("vitrine", '{"uri": 5, "digest": ""}'),
        ("vitrine", '{"uri": "vitrine://db/asset"}'),
        ("vitrine", '{"uri": "vitrine://db/asset", "digest": null}'),
        ("vitrine", "[" * 60_000),
        ("vitrine", '{"uri": "vitrine://db", "digest": ""}'),
    ):
        assert AssetUse.of(kind, text) is None


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vitrine", None)
    with pytest.raises(MlflowException, match=r"pip install 'vitrine-mlflow\[assets\]'"):
        connect()


def test_a_missing_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VITRINE_API", "VITRINE_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)

    def do_nothing(_: Path) -> None: ...

    monkeypatch.setattr("vitrine.config.read_login", do_nothing)
    with pytest.raises(MlflowException, match="No Vitrine deployment"):
        connect()
