"""Commands for versions of assets."""

from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.options import (
    AssetArgument,
    DatabaseArgument,
    ReasonOption,
    TimeoutOption,
    WaitOption,
)
from vitrine.cli.output import size_text
from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError
from vitrine.lookup import find_asset
from vitrine.models import AssetIds
from vitrine.resources.versions import FileDifferences, MadeVersion, RecordDifferences

VersionArgument = Annotated[str, typer.Argument(metavar="VERSION", help="Version number.")]
CommentOption = Annotated[str, typer.Option("--comment", "-m", help="Comment on the version.")]
MetadataOption = Annotated[bool, typer.Option("--metadata", help="Also restore the metadata.")]


@command("versions create")
def create(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    comment: CommentOption,
    alias: Annotated[str | None, typer.Option(help="Alias of the version.")] = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Create a version of an asset from its current files."""
    made = session.client.versions.create(_ids(session, database, asset), comment, alias=alias)
    _print(session, made, wait=wait, timeout=timeout)


@command("versions list")
def list_versions(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    archived: Annotated[
        bool, typer.Option("--archived", help="Include archived versions.")
    ] = False,
) -> None:
    """List the versions of an asset, newest first."""
    ids = _ids(session, database, asset)
    versions = list(session.client.versions.list(ids, show_archived=archived or None))
    session.output.document({"versions": [version.wire() for version in versions]})
    session.output.rows(
        ["version", "alias", "files", "by", "at", "comment"],
        [
            [
                f"{version.version}{'*' if version.is_current else ''}",
                version.version_alias,
                version.file_count,
                version.created_by,
                version.date_modified,
                version.comment,
            ]
            for version in versions
        ],
    )


@command("versions show")
def show(
    session: Session, database: DatabaseArgument, asset: AssetArgument, version: VersionArgument
) -> None:
    """Show the files of a version; with --json its metadata, too."""
    version_reply = session.client.versions.get(_ids(session, database, asset), version)
    session.output.document(version_reply.wire())
    session.output.rows(
        ["path", "size", "version", "state"],
        [
            [
                file.relative_key,
                size_text(file.size),
                file.version_id,
                "gone"
                if file.is_permanently_deleted
                else "archived"
                if file.is_latest_version_archived
                else "",
            ]
            for file in version_reply.files
        ],
    )


@command("versions compare")
def compare(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    before: Annotated[str, typer.Argument(metavar="FROM")],
    after: Annotated[str, typer.Argument(metavar="TO")],
) -> None:
    """Compare two versions of an asset."""
    pages: list[JsonValue] = []
    rows: list[list[str]] = []
    for page in session.client.versions.compare(_ids(session, database, asset), before, after):
        pages.append(page.wire())
        rows += _rows("file", page.files)
        rows += _rows("metadata", page.metadata) + _rows("attribute", page.attributes)
        rows += [
            [
                "changed",
                "geometry",
                difference.file_path,
                f"{difference.fact}: {difference.before} to {difference.after}",
            ]
            for difference in page.geometry
        ]
    session.output.document({"pages": pages})
    session.output.rows(["change", "what", "path", "key"], rows)


@command("versions update")
def update(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    version: VersionArgument,
    comment: Annotated[str | None, typer.Option("--comment", "-m")] = None,
    alias: Annotated[str | None, typer.Option(help='New alias; "" removes it.')] = None,
) -> None:
    """Change the comment, or the alias, of a version."""
    if comment is None and alias is None:
        raise ConfigurationError("nothing to change: give --comment or --alias")
    ids = _ids(session, database, asset)
    _print(session, session.client.versions.update(ids, version, comment=comment, alias=alias))


@command("versions archive")
def archive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    version: VersionArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
) -> None:
    """Archive a version; for the current one, also the asset (confirm with --yes).

    In a terminal, requires confirmation.
    """
    if session.output.err.is_terminal:
        session.confirm(f"Archive version {version} of {asset}?", yes=yes)
    made = session.client.versions.archive(
        _ids(session, database, asset), version, confirm_archive_asset=yes, reason=reason
    )
    _print(session, made)


@command("versions unarchive")
def unarchive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    version: VersionArgument,
    reason: ReasonOption = None,
) -> None:
    """Restore an archived version, and its asset if archived with it."""
    ids = _ids(session, database, asset)
    _print(session, session.client.versions.unarchive(ids, version, reason=reason))


@command("versions revert")
def revert(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    version: VersionArgument,
    comment: CommentOption,
    metadata: MetadataOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Restore the files of a version as a new version."""
    ids = _ids(session, database, asset)
    made = session.client.versions.revert(ids, version, comment, metadata=metadata)
    _print(session, made, wait=wait, timeout=timeout)


def _ids(session: Session, database: str, asset: str) -> AssetIds:
    return database, find_asset(session.client, database, asset, archived=True).asset_id


def _print(
    session: Session, made: MadeVersion, *, wait: bool = False, timeout: float = 600.0
) -> None:
    document = made.wire()
    number, state = made.asset_version_id, made.job_state or "done"
    if wait and made.job_id is not None and state != "done":
        job = session.client.jobs.wait(made.job_id, timeout=timeout, sleep=session.wiring.sleep)
        state = job.state
        number = number or str((job.result or {}).get("assetVersionId", ""))
        document |= {"assetVersionId": number, "jobState": state}
    session.output.document(document)
    headings = ["asset", "version", "operation", "job", "state"]
    row = [made.asset_id, number, made.operation, made.job_id, state]
    session.output.rows(headings, [row])
    if not session.output.as_json:
        for path in made.skipped_files:
            session.output.say(f"skipped: {path}")


def _rows(what: str, changes: FileDifferences | RecordDifferences) -> list[list[str]]:
    kinds = (("added", changes.added), ("removed", changes.removed), ("changed", changes.changed))
    rows: list[list[str]] = []
    for change, differences in kinds:
        for difference in differences:
            wire = difference.wire()
            path = wire.get("relativeKey") or wire.get("filePath")
            rows.append([change, what, str(path), str(wire.get("metadataKey", ""))])
    return rows
