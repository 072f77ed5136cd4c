"""Commands that archive, restore and delete assets."""

from collections.abc import Callable
from typing import Annotated

import typer

from vitrine.cli.reading import AssetArgument, DatabaseArgument
from vitrine.cli.session import Session, YesOption, with_session
from vitrine.lookup import find_asset
from vitrine.models import Asset
from vitrine.resources.lifecycle import Changed

ReasonOption = Annotated[str | None, typer.Option(help="Reason, stored with the asset.")]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until all files are changed.")]
TimeoutOption = Annotated[float, typer.Option(min=0, help="Maximum seconds to wait.")]


@with_session
def archive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Archive an asset: it is left out of lists and searches, but can be restored."""
    found = find_asset(session.client, database, asset, archived=True)
    session.confirm(f"Archive {_called(found)}?", yes=yes)
    _change(
        session,
        lambda: session.client.assets.archive(database, found.asset_id, reason=reason),
        wait=wait,
        timeout=timeout,
    )


@with_session
def unarchive(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Restore an archived asset and the files archived with it."""
    found = find_asset(session.client, database, asset, archived=True)
    _change(
        session,
        lambda: session.client.assets.unarchive(database, found.asset_id, reason=reason),
        wait=wait,
        timeout=timeout,
    )


@with_session
def delete(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    reason: ReasonOption = None,
    yes: YesOption = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 600.0,
) -> None:
    """Permanently delete an asset with all file versions, metadata, links and comments."""
    found = find_asset(session.client, database, asset, archived=True)
    session.confirm(f"Permanently delete {_called(found)} with all versions of its files?", yes=yes)
    _change(
        session,
        lambda: session.client.assets.delete(database, found.asset_id, reason=reason),
        wait=wait,
        timeout=timeout,
    )


def _called(asset: Asset) -> str:
    return f"the asset {asset.asset_name!r} ({asset.asset_id})"


def _change(session: Session, change: Callable[[], Changed], *, wait: bool, timeout: float) -> None:
    changed = change()
    state = changed.job_state
    if wait and state != "done":
        jobs = session.client.jobs
        state = jobs.wait(changed.job_id, timeout=timeout, sleep=session.wiring.sleep).state
    session.output.reply(
        {**changed.wire(), "jobState": state},
        asset=changed.asset_id,
        operation=changed.operation,
        job=changed.job_id,
        state=state,
    )
