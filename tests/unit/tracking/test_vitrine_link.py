"""Addresses of assets, and what a dataset's source says of one."""

import json
import sys
from pathlib import Path

import mlflow
import pytest
from mlflow.exceptions import MlflowException
from vitrine_mlflow.vitrine_link import AssetAddress, AssetUse, connect

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
