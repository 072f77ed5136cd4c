"""Commands for subscriptions to notifications about assets."""

from typing import Annotated

import typer

from vitrine.cli.session import FAILED, Session, YesOption, with_session

AssetArgument = Annotated[str, typer.Argument(metavar="ASSET", help="Id of the asset.")]
UsersArgument = Annotated[list[str], typer.Argument(metavar="USER...")]


@with_session
def list_subscriptions(session: Session) -> None:
    """List subscriptions."""
    found = list(session.client.subscriptions.list())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["asset", "database", "name", "subscribers"],
        [
            [one.entity_id, one.database_id, one.entity_value, ", ".join(one.subscribers)]
            for one in found
        ],
    )


@with_session
def subscribe(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Subscribe users to an asset."""
    done = session.client.subscriptions.create(asset, users)
    session.output.document(done.wire())
    session.output.rows(["asset", "subscribed"], [[asset, ", ".join(users)]])


@with_session
def set_subscribers(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Replace the subscribers of an asset."""
    done = session.client.subscriptions.update(asset, users)
    session.output.document(done.wire())
    session.output.rows(["asset", "subscribers"], [[asset, ", ".join(users)]])


@with_session
def unsubscribe(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Unsubscribe users from an asset."""
    done = session.client.subscriptions.unsubscribe(asset, users)
    session.output.document(done.wire())
    session.output.rows(["asset", "unsubscribed"], [[asset, ", ".join(users)]])


@with_session
def delete_subscription(
    session: Session,
    asset: AssetArgument,
    yes: YesOption = False,
) -> None:
    """Delete all subscriptions to an asset."""
    session.confirm(f"Unsubscribe everyone from {asset}?", yes=yes)
    done = session.client.subscriptions.delete(asset)
    session.output.document(done.wire())
    session.output.rows(["asset"], [[asset]])


@with_session
def check(
    session: Session, asset: AssetArgument, user: Annotated[str, typer.Argument(metavar="USER")]
) -> None:
    """Check whether a user is subscribed to an asset; fails if not."""
    found = session.client.subscriptions.is_subscribed(asset, user)
    session.output.document({"subscribed": found})
    session.output.rows(["asset", "user", "subscribed"], [[asset, user, "yes" if found else "no"]])
    if not found:
        raise typer.Exit(FAILED)
