"""Commands that archive assets, bring them back and delete them."""

from collections.abc import Callable
from typing import Annotated

import typer

from vitrine.cli.reading import AssetArgument, DatabaseArgument
from vitrine.cli.session import Session, YesOption, with_session
from vitrine.lookup import find_asset
from vitrine.models import Asset
from vitrine.resources.lifecycle import Changed

ReasonOption = Annotated[str | None, typer.Option(help="Why; kept with the asset's history.")]
WaitOption = Annotated[bool, typer.Option("--wait", help="Return when all files are changed.")]
TimeoutOption = Annotated[float, typer.Option(min=0, help="Seconds to wait at the most.")]


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
    """Archive an asset: lists and searches leave it out, nothing of it is lost."""
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
    """Bring an archived asset back, with the files that its archiving took."""
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
    """Delete an asset for good, with all versions of its files and all that was said of it."""
    found = find_asset(session.client, database, asset, archived=True)
    session.confirm(f"Delete {_called(found)} for good, with all versions of its files?", yes=yes)
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
    session.output.document({**changed.wire(), "jobState": state})
    session.output.rows(
        ["asset", "operation", "job", "state"],
        [[changed.asset_id, changed.operation, changed.job_id, state]],
    )
