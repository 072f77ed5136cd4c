"""Ingest from the client, and names in decomposed form (NFD), which are sent as NFC."""

import json
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote

import httpx
import pytest
from vitrine import ConflictError, IntegrityError, Vitrine
from vitrine.resources.streams import Source
from vitrine.transfer import ingesting
from vitrine.transfer.downloading import download
from vitrine.transfer.importing import upload_files
from vitrine.transfer.ingesting import Described, SameNameError, ingest_files
from vitrine.transfer.scan import LocalFile

from tests.unit.client.fake_files import Document, refuse
from tests.unit.client.fake_server import BUCKET, FakeServer
from tests.unit.client.shell import Shell

PUMP = Described(database_id="garage", asset_id="pump", asset_name="Old Pump", description="A pump")


class IngestServer(FakeServer):
    """Creates the asset and leaves the rest to the routes of uploads."""

    def _route(self, request: httpx.Request, parts: list[str], body: Document) -> httpx.Response:
        if parts != ["ingest-asset"]:
            return super()._route(request, parts, body)
        rows = body["files"]
        assert isinstance(rows, list)
        beginning = f"{body['assetId']}/"
        files: list[Document] = []
        for row in rows:
            assert isinstance(row, dict)
            key = str(row["relativeKey"])
            assert key.startswith(beginning)
            files.append({**row, "relativeKey": "/" + key.removeprefix(beginning)})
        inner: Document = {**body, "files": [*files]}
        if "uploadId" in body:
            return self._rename_keys(self.complete_upload(str(body["uploadId"]), inner), beginning)
        if (str(body["databaseId"]), str(body["assetId"])) not in self.assets:
            if body["assetId"] == "taken":
                refuse(409, "the asset id is taken", code="AssetIdTaken")
            self._create_asset(body)
        return self._rename_keys(self.open_upload(inner), beginning)

    @staticmethod
    def _rename_keys(answer: httpx.Response, beginning: str) -> httpx.Response:
        reply = answer.json()
        for row in [*reply.get("files", []), *reply.get("fileResults", [])]:
            row["relativeKey"] = beginning + row["relativeKey"].removeprefix("/")
        return httpx.Response(answer.status_code, json=reply)


@pytest.fixture
def server() -> IngestServer:
    return IngestServer()


@pytest.fixture
def files(client: Vitrine, tmp_path: Path) -> list[Path]:
    client.databases.create("garage", description="All of it", default_bucket_id=BUCKET)
    for name, size in (("a.glb", 100), ("b c.txt", 30), ("empty.txt", 0)):
        (tmp_path / name).write_bytes(bytes(number % 251 for number in range(size)))
    return [tmp_path / name for name in ("a.glb", "b c.txt", "empty.txt")]


def test_files_are_stored_with_their_asset(
    client: Vitrine, server: IngestServer, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "PART_SIZE", 40)
    result = ingest_files(client, PUMP, files)
    assert result.overall_success
    assert [file.relative_key for file in result.file_results] == [
        "pump/a.glb",
        "pump/b c.txt",
        "pump/empty.txt",
    ]
    assert server.content() == {f"Old Pump/{path.name}": path.read_bytes() for path in files}
    assert len(server.storage_requests) == 4  # three parts and one


def test_a_request_with_a_lost_reply_is_sent_again(
    client: Vitrine, server: IngestServer, files: list[Path]
) -> None:
    for _ in range(2):
        server.fail("POST", "/ingest-asset$", httpx.ReadError("lost"), after=True)
    assert ingest_files(client, PUMP, files).overall_success
    assert len(server.assets) == 1


def test_two_files_of_one_name_are_refused(
    client: Vitrine, server: IngestServer, files: list[Path]
) -> None:
    with pytest.raises(IntegrityError):
        ingest_files(client, PUMP, [files[0], files[0]])
    assert server.assets == {}


def test_an_id_that_is_taken_is_a_conflict(client: Vitrine, files: list[Path]) -> None:
    taken = Described(
        database_id="garage", asset_id="taken", asset_name="x", description="Of another"
    )
    with pytest.raises(ConflictError):
        ingest_files(client, taken, files)


def test_the_command_prints_each_file(
    server: IngestServer, files: list[Path], tmp_path: Path
) -> None:
    shell = Shell(server, tmp_path)
    names = [str(path) for path in files]
    out = shell.run("ingest", "garage", "pump", *names, "--name", "Old Pump")
    assert out.splitlines()[0] == "pump/a.glb\tstored"
    assert server.assets["garage", "pump"]["assetName"] == "Old Pump"
    reply = shell.json("ingest", "garage", "pump", *names)
    assert reply["overallSuccess"] is True
    shell.run("ingest", "garage", "taken", names[0])
    assert shell.code == 1
    server.file_results["/a.glb"] = "the content is an ELF executable"
    shell.run("ingest", "garage", "pump", names[0])
    assert shell.code == 1


def test_a_file_that_was_not_announced_ends_an_ingest_with_one_sentence(
    server: IngestServer, files: list[Path], tmp_path: Path
) -> None:
    """A server that returns the examples of the OpenAPI document does so."""
    started = {"relativeKey": "/text", "uploadIdS3": "text", "numParts": 1}
    poor = httpx.Response(200, json={"uploadId": "y1", "files": [started]})
    server.fail("POST", "^/ingest-asset$", poor)
    shell = Shell(server, tmp_path)
    shell.run("ingest", "garage", "pump", str(files[0]))
    assert shell.code == 1
    assert "the reply names '/text', which was not announced" in shell.err


NAME = "Müller é.glb"
DECOMPOSED = normalize("NFD", NAME)


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


def test_commands_send_names_in_composed_form(shell: Shell, client: Vitrine) -> None:
    kept = normalize("NFD", "gemäß")
    for arguments in (
        *(("get", DECOMPOSED, DECOMPOSED), ("ls", DECOMPOSED), ("tags", "create", DECOMPOSED)),
        ("files", "move", DECOMPOSED, DECOMPOSED, DECOMPOSED, f"/{DECOMPOSED}"),
    ):
        shell.run(*arguments, "--json")
    sent = [unquote(str(request.url)) + request.content.decode() for request in shell.server.sent]
    assert any(NAME in request for request in sent)
    texts = [request.encode().decode("unicode_escape", "ignore") for request in sent]
    assert [text for text in (*sent, *texts) if DECOMPOSED in text] == []

    client.assets.create("garage", "Pump", description="A pump", asset_id="pump")
    shell.run("metadata", "set", "garage", "pump", DECOMPOSED, kept, "--json")
    (record,) = json.loads(shell.server.sent[-1].content)["metadata"]
    assert (record["metadataKey"], record["metadataValue"]) == (NAME, kept)
