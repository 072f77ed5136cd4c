"""Questions of people, each answered by an assistant's client in at most three calls.

The client is the SDK's own; the server is the command, on a local runtime with samples.
"""

import json
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any, TypeVar
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, ImageContent, TextContent
from vitrine import Metadata, Vitrine
from vitrine.resources.metadata import MetadataOwner
from vitrine.transfer.importing import import_directory
from vitrine.transfer.names import asset_id

from tests.journeys.runtime import Runtime

LIBRARY = Path(__file__).parents[2] / "samples" / "library"
SAMPLES = ("gear", "pinion", "lamp", "house", "table", "bolt")
Result = TypeVar("Result")


@dataclass
class Assistant:
    """A conversation, and the calls of the current question."""

    client: Client
    calls: int = 0

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and return its data; or the text of its error."""
        self.calls += 1
        result: CallToolResult = await self.client.call_tool(tool, arguments)
        if any(isinstance(part, ImageContent) for part in result.content):
            return [part.mime_type for part in result.content if isinstance(part, ImageContent)]
        (text,) = [part.text for part in result.content if isinstance(part, TextContent)]
        assert not result.is_error, text
        match = re.search(r"<data (\w+)>\n(.*)\n</data \1>", text, re.DOTALL)
        assert match, text
        return json.loads(match[2])


async def agree(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    return ElicitResult(action="accept", content={"agree": True})


def converse(
    runtime: Runtime, folder: Path, talk: Callable[[Assistant], Awaitable[Result]]
) -> Result:
    endpoint = str(runtime.state / "endpoint.json")
    arguments = ["-m", "vitrine", "mcp", "--folder", str(folder), "--write", "--endpoint", endpoint]
    server = StdioServerParameters(command=sys.executable, args=arguments)

    async def run() -> Result:
        async with Client(server, elicitation_callback=agree) as client:
            return await talk(Assistant(client))

    return anyio.run(run)


@pytest.fixture
def library(runtime: Runtime, tmp_path: Path) -> str:
    """A database with some of the samples, inspected and described."""
    database = runtime.client().new_database(f"shop-{uuid4().hex[:8]}", processing=True)
    folder = tmp_path / "library"
    for name in SAMPLES:
        copytree(LIBRARY / name, folder / name)
    (folder / "gear" / "odd.glb").write_bytes(b"no model")  # refused: it gets no thumbnail
    with Vitrine(runtime.endpoint["api"], runtime.endpoint["adminApiKey"]) as client:
        assert not import_directory(client, folder, database_id=database).failed
        gear, pinion, bolt = (asset_id(database, name) for name in ("gear", "pinion", "bolt"))
        owner = MetadataOwner(database_id=database, asset_id=gear)
        client.metadata.add(owner, [Metadata(metadata_key="maker", metadata_value="Boulton")])
        client.links.create((database, pinion), (database, gear))
        client.versions.create((database, bolt), "first")
        client.files.archive((database, bolt), "/washer.stl")
        client.versions.create((database, bolt), "without a washer")
    runtime.drain()
    return database


Question = Callable[[Assistant, str], Awaitable[object]]


async def without_thumbnail(asks: Assistant, shop: str) -> object:
    found = await asks.ask("search", database=shop, extension="glb", has_thumbnail=False)
    over = await asks.ask(
        "search", database=shop, conditions=["triangles > 100000"], has_thumbnail=False
    )
    return [row["path"] for row in found["items"]], over["total"]


async def largest(asks: Assistant, shop: str) -> object:
    found = await asks.ask("search", database=shop, largest_first="triangles", size=1, kind="file")
    return len(found["items"]), "triangles" in found["items"][0]["facts"]


async def made_by_boulton(asks: Assistant, shop: str) -> object:
    found = await asks.ask("search", database=shop, conditions=["metadata.maker=Boulton"])
    return [row["assetName"] for row in found["items"]]


async def used_in(asks: Assistant, shop: str) -> object:
    used = await asks.ask("where_used", database=shop, asset="gear")
    return [row["assetName"] for row in used["partOf"]]


async def users_of_a_file(asks: Assistant, shop: str) -> object:
    used = await asks.ask("where_used", database=shop, asset="lamp", path="/lamp.bin")
    return [row["filePath"] for row in used["usedByFiles"]["items"]]


async def format_of(asks: Assistant, shop: str) -> object:
    facts = (await asks.ask("facts", database=shop, asset="bolt", path="/bolt.glb"))["facts"]
    return facts["format"], int(facts["triangles"]) > 0


async def looks_like(asks: Assistant, shop: str) -> object:
    picture = await asks.ask("thumbnail", database=shop, asset="gear", path="/gear.glb")
    similar = await asks.ask("similar", database=shop, asset="gear", path="/gear.glb")
    return picture, bool(similar["items"])


async def changed(asks: Assistant, shop: str) -> object:
    versions = await asks.ask("versions", database=shop, asset="bolt")
    after, before = (row["Version"] for row in versions["items"][:2])
    both = {"database": shop, "asset": "bolt", "before": before, "after": after}
    compared = await asks.ask("compare_versions", **both)
    return [row["relativeKey"] for row in compared["files"]["removed"]]


async def takes_home(asks: Assistant, shop: str) -> object:
    done = await asks.ask("download", database=shop, asset="house", target="house")
    return sorted(row["status"] for row in done["items"])


async def may_delete(asks: Assistant, shop: str) -> object:
    who = {"user": "nobody@example.org", "action": "DELETE", "database": shop, "asset": "gear"}
    return (await asks.ask("explain_permission", **who))["tier2"]["decision"]


async def brings_back(asks: Assistant, shop: str) -> object:
    sent = await asks.ask("upload", database=shop, asset="table", files=["house/plan.png"])
    made = await asks.ask("create_version", database=shop, asset="table", comment="with a plan")
    return sent["items"][0]["status"], made["success"]


async def renames_its_maker(asks: Assistant, shop: str) -> object:
    values = {"maker": "Watt"}
    await asks.ask("set_metadata", database=shop, asset="gear", values=values)
    return (await asks.ask("show", database=shop, asset="gear"))["metadata"]["maker"]


QUESTIONS: dict[str, tuple[Question, object]] = {
    "Which GLBs have no thumbnail, and which over 100,000 triangles?": (
        without_thumbnail, (["/odd.glb"], 0)
    ),
    "What is my largest model?": (largest, (1, True)),
    "What has Boulton made?": (made_by_boulton, ["gear"]),
    "In which assembly is the gear used?": (used_in, ["pinion"]),
    "May I delete lamp.bin, or does a file need it?": (users_of_a_file, ["/lamp.gltf"]),
    "What is bolt.glb?": (format_of, ("glTF2", True)),
    "What does the gear look like, and what is like it?": (looks_like, (["image/webp"], True)),
    "What changed in the bolt's last version?": (changed, ["/washer.stl"]),
    "Put the house into my folder.": (takes_home, ["downloaded"] * 4),
    "May nobody@example.org delete the gear?": (may_delete, "deny"),
    "Add the plan to the table, as a version.": (brings_back, ("uploaded", True)),
    "The gear is by Watt, not Boulton.": (renames_its_maker, "Watt"),
}  # fmt: skip


def test_each_question_is_answered_in_three_calls(
    runtime: Runtime, library: str, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()

    async def talk(assistant: Assistant) -> dict[str, tuple[object, int]]:
        answers: dict[str, tuple[object, int]] = {}
        for text, (question, _) in QUESTIONS.items():
            assistant.calls = 0
            answers[text] = (await question(assistant, library), assistant.calls)
        return answers

    answers = converse(runtime, work, talk)
    assert {text: answer for text, (answer, _) in answers.items()} == {
        text: expected for text, (_, expected) in QUESTIONS.items()
    }
    assert max(calls for _, calls in answers.values()) <= 3
    assert len(list((work / "house").iterdir())) == 4
