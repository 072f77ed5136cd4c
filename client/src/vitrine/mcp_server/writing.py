"""Tools that change something: files of the folder, and, if allowed, the assets.

Values are replaced, tags removed and files archived only after the user confirmed it in the
client's program. If that program has no such questions, the tool is refused. Nothing is deleted
permanently.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field, JsonValue

from vitrine.client import Vitrine
from vitrine.errors import NotFoundError, UnsafePathError
from vitrine.lookup import find_asset
from vitrine.mcp_server.reading import AssetName, Database, FilePath, OptionalPath, list_records
from vitrine.mcp_server.replies import data_text, first, inside, reports_errors
from vitrine.models import AssetIds, Metadata
from vitrine.quoting import quote_text
from vitrine.resources.metadata import MetadataOwner
from vitrine.transfer.downloading import Downloads, find_paths, target_of
from vitrine.transfer.importing import upload_files
from vitrine.transfer.names import relative_key
from vitrine.transfer.report import FileOutcome, Silent
from vitrine.transfer.scan import LocalFile

_MOST_FILES: Final = 500


class Agreement(BaseModel):
    """The user's reply to a question."""

    agree: bool = Field(description="Do it.")


@dataclass(frozen=True)
class Transfers:
    """Tools that move files between the folder and the assets."""

    client: Vitrine
    folder: Path

    def ids(self, database: str, asset: str) -> AssetIds:
        return database, find_asset(self.client, database, asset).asset_id

    @reports_errors
    def download(
        self,
        database: Database,
        asset: AssetName,
        path: Annotated[
            str | None, Field(description="File or folder of the asset; default: all files.")
        ] = None,
        target: Annotated[str, Field(description="Folder below the working folder.")] = ".",
    ) -> str:
        """Download files to the working folder. Existing files are not overwritten."""
        root = inside(self.folder, target)
        ids = self.ids(database, asset)
        keys = find_paths(self.client, *ids, path)
        if len(keys) > _MOST_FILES:
            raise ToolError(f"{len(keys)} files; at most {_MOST_FILES} at once: name a folder")

        def check(key: str) -> None:
            if (place := target_of(root, key)).exists() or place.is_symlink():
                raise UnsafePathError("the folder has another file of that name")

        run = Downloads(self.client, *ids, root, Silent(), lambda key: target_of(root, key), check)
        return _outcomes(run.download(keys).files)

    @reports_errors
    def upload(
        self,
        files: Annotated[
            list[str], Field(description="Paths below the working folder.", min_length=1)
        ],
        database: Database,
        asset: AssetName,
        to_folder: Annotated[str, Field(description="Folder in the asset.")] = "",
    ) -> str:
        """Upload files of the working folder. An existing file gets a new version."""
        if len(files) > _MOST_FILES:
            raise ToolError(f"{len(files)} files; at most {_MOST_FILES} at once")
        ids = self.ids(database, asset)
        wanted: list[LocalFile] = []
        for name in files:
            path = inside(self.folder, name)
            if not path.is_file():
                raise ToolError(f"{quote_text(name)} is not a file in the folder")
            parts = [part for part in to_folder.split("/") if part]
            # By the given name: `path` is the target of a link.
            key = relative_key([*parts, Path(name).name])
            wanted.append(LocalFile(path=path, key=key, size=path.stat().st_size))
        return _outcomes(upload_files(self.client, *ids, wanted))


@dataclass(frozen=True)
class Writing:
    """Tools that change assets."""

    client: Vitrine

    def ids(self, database: str, asset: str) -> AssetIds:
        return database, find_asset(self.client, database, asset).asset_id

    @reports_errors
    def create_version(
        self, database: Database, asset: AssetName, comment: Annotated[str, Field(min_length=1)]
    ) -> str:
        """Create a version of an asset from its current files."""
        return data_text(self.client.versions.create(self.ids(database, asset), comment).wire())

    @reports_errors
    def run_workflow(
        self, database: Database, asset: AssetName, workflow: str, path: OptionalPath = None
    ) -> str:
        """Start a workflow on an asset or a file. The tool workflows shows its state."""
        ids = self.ids(database, asset)
        owner = database
        try:
            self.client.workflows.get(database, workflow)
        except NotFoundError:
            owner = "GLOBAL"
        started = self.client.executions.start(*ids, workflow, owner, file_key=path)
        return data_text(started.wire())


def tag_tool(client: Vitrine) -> object:
    """Return the tool that changes tags; the user confirms that some are removed."""

    @reports_errors
    def untagged(
        database: str, asset: str, remove: list[str] | None, context: Context[Any, Any]
    ) -> Agreement | Elicit[Agreement]:
        lost = {*(find_asset(client, database, asset).tags or ())} & {*(remove or ())}
        if not lost:
            return Agreement(agree=True)
        names = ", ".join(map(quote_text, sorted(lost)[:10]))
        where = quote_text(f"{database}/{asset}")
        return _question_to(context, f"Remove the tags {names} of {where}?")

    @reports_errors
    def tag(
        database: Database,
        asset: AssetName,
        agreement: Annotated[Agreement, Resolve(untagged)],
        add: Annotated[list[str] | None, Field(description="Tags that exist.")] = None,
        remove: list[str] | None = None,
    ) -> str:
        """Add tags to an asset, and remove others. The user confirms that tags are removed."""
        _require(agreement)
        found = find_asset(client, database, asset)
        tags = [tag for tag in found.tags or () if tag not in set(remove or ())]
        wanted = [*dict.fromkeys([*tags, *(add or ())])]
        client.assets.update(database, found.asset_id, tags=wanted, revision=found.revision)
        return data_text({"asset": found.asset_id, "tags": [*wanted]})

    return tag


def confirmed_tools(client: Vitrine) -> dict[str, object]:
    """Return the tools that the user confirms, by name."""

    @reports_errors
    def replaced(
        database: str,
        asset: str,
        values: dict[str, str],
        path: str | None,
        context: Context[Any, Any],
    ) -> Agreement | Elicit[Agreement]:
        owner = _owner(client, database, asset, path)
        held = list_records(client, owner)
        lost = sorted(key for key, value in values.items() if held.get(key, value) != value)
        if not lost:
            return Agreement(agree=True)
        names = ", ".join(map(quote_text, lost[:10]))
        where = quote_text(f"{database}/{asset}{path or ''}")
        return _question_to(context, f"Replace the values of {names} in the metadata of {where}?")

    @reports_errors
    def set_metadata(
        database: Database,
        asset: AssetName,
        values: Annotated[dict[str, str], Field(description="Texts by key.", min_length=1)],
        agreement: Annotated[Agreement, Resolve(replaced)],
        path: OptionalPath = None,
    ) -> str:
        """Set metadata of an asset or a file. The user confirms that values are replaced."""
        _require(agreement)
        records = [
            Metadata(metadata_key=key, metadata_value=value) for key, value in values.items()
        ]
        reply = client.metadata.set(_owner(client, database, asset, path), records)
        return data_text(reply.wire())

    def archived(
        database: str, asset: str, path: str, context: Context[Any, Any]
    ) -> Elicit[Agreement]:
        where = quote_text(f"{database}/{asset}{path}")
        return _question_to(context, f"Archive the file {where}? It can be restored.")

    @reports_errors
    def archive_file(
        database: Database,
        asset: AssetName,
        path: FilePath,
        agreement: Annotated[Agreement, Resolve(archived)],
    ) -> str:
        """Archive a file after the user agreed. It can be restored."""
        _require(agreement)
        ids = database, find_asset(client, database, asset).asset_id
        return data_text(client.files.archive(ids, path).wire())

    return {"set_metadata": set_metadata, "archive_file": archive_file}


def _question_to(context: Context[Any, Any], question: str) -> Elicit[Agreement]:
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        raise ToolError("the user must agree to this, and your program cannot ask (elicitation)")
    return Elicit(question, Agreement)


def _require(agreement: Agreement) -> None:
    if not agreement.agree:
        raise ToolError("the user did not agree")


def _owner(client: Vitrine, database: str, asset: str, path: str | None) -> MetadataOwner:
    asset_id = find_asset(client, database, asset).asset_id
    return MetadataOwner(database_id=database, asset_id=asset_id, file_path=path)


def _outcomes(outcomes: Iterable[FileOutcome]) -> str:
    rows: list[JsonValue] = [
        {
            "file": outcome.key,
            "status": outcome.status.value,
            "bytes": outcome.size,
            "reason": outcome.reason,
        }
        for outcome in outcomes
    ]
    return data_text(first(rows, len(rows)))
