"""Names in decomposed form (NFD), as macOS writes them, are sent in the contract's form (NFC)."""

import json
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

import pytest
from vitrine import Vitrine
from vitrine.resources.streams import Source
from vitrine.transfer.downloading import download
from vitrine.transfer.importing import upload_files
from vitrine.transfer.ingesting import SameNameError, ingest_files
from vitrine.transfer.scan import LocalFile

from tests.unit.client.fake_server import BUCKET
from tests.unit.client.shell import Shell
from tests.unit.client.test_ingest import PUMP, IngestServer

NAME = "Müller é.glb"
DECOMPOSED = normalize("NFD", NAME)


@pytest.fixture
def server() -> IngestServer:
    return IngestServer()


@pytest.fixture
def shell(server: IngestServer, tmp_path: Path) -> Shell:
    return Shell(server, tmp_path)


@pytest.fixture
def file(client: Vitrine, tmp_path: Path) -> Path:
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    path = tmp_path / DECOMPOSED
    path.write_bytes(b"bytes")
    return path


def test_ingest_stores_a_file_under_its_composed_name(
    client: Vitrine, server: IngestServer, file: Path, tmp_path: Path
) -> None:
    assert ingest_files(client, PUMP, [file]).overall_success
    assert server.content() == {f"Old Pump/{NAME}": b"bytes"}
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / NAME
    twin.write_bytes(b"others")
    with pytest.raises(SameNameError):
        ingest_files(client, PUMP, [file, twin])


def test_an_uploaded_file_has_its_composed_path(
    client: Vitrine, server: IngestServer, file: Path
) -> None:
    client.assets.create("garage", "Pump", description="A pump", asset_id="pump")
    local = LocalFile(path=file, key=f"/{DECOMPOSED}/{DECOMPOSED}", size=5)
    assert [outcome.reason for outcome in upload_files(client, "garage", "pump", [local])] == [None]
    assert server.content() == {f"Pump/{NAME}/{NAME}": b"bytes"}


def test_files_are_downloaded_and_streamed_by_either_form(
    client: Vitrine, file: Path, tmp_path: Path
) -> None:
    ingest_files(client, PUMP, [file])
    for path in (NAME, DECOMPOSED, f"/{DECOMPOSED}"):
        report = download(client, "garage", "pump", tmp_path / "out" / path, path=path)
        assert [file.key for file in report.files] == [f"/{NAME}"]
        source = Source(database_id="garage", asset_id="pump", path=path)
        assert unquote(source.url_path).endswith(f"/{NAME}")


def test_commands_send_names_in_composed_form(
    client: Vitrine, shell: Shell, server: IngestServer
) -> None:
    kept = normalize("NFD", "gemäß")
    for arguments in (
        *(("get", DECOMPOSED, DECOMPOSED), ("ls", DECOMPOSED), ("tags", "create", DECOMPOSED)),
        ("files", "move", DECOMPOSED, DECOMPOSED, DECOMPOSED, f"/{DECOMPOSED}"),
    ):
        shell.run(*arguments, "--json")
    sent = [unquote(str(request.url)) + request.content.decode() for request in server.sent]
    assert any(NAME in request for request in sent)
    texts = [request.encode().decode("unicode_escape", "ignore") for request in sent]
    assert [text for text in (*sent, *texts) if DECOMPOSED in text] == []

    client.assets.create("garage", "Pump", description="A pump", asset_id="pump")
    shell.run("metadata", "set", "garage", "pump", DECOMPOSED, kept, "--json")
    (record,) = json.loads(server.sent[-1].content)["metadata"]
    assert (record["metadataKey"], record["metadataValue"]) == (NAME, kept)
