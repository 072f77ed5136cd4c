"""Commands for subscriptions to notifications about assets."""

from typing import Annotated

import typer

from vitrine.cli.session import FAILED, Session, YesOption, command

AssetArgument = Annotated[str, typer.Argument(metavar="ASSET", help="Id of the asset.")]
UsersArgument = Annotated[list[str], typer.Argument(metavar="USER...")]


@command("subscriptions list")
def list_subscriptions(session: Session) -> None:
    """List subscriptions."""
    session.output.items(
        session.client.subscriptions.list(),
        ["asset", "database", "name", "subscribers"],
        lambda subscription: [
            subscription.entity_id,
            subscription.database_id,
            subscription.entity_value,
            ", ".join(subscription.subscribers),
        ],
    )


@command("subscriptions add")
def subscribe(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Subscribe users to an asset."""
    session.output.reply(
        session.client.subscriptions.create(asset, users), asset=asset, subscribed=", ".join(users)
    )


@command("subscriptions set")
def set_subscribers(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Replace the subscribers of an asset."""
    session.output.reply(
        session.client.subscriptions.update(asset, users), asset=asset, subscribers=", ".join(users)
    )


@command("subscriptions remove")
def unsubscribe(session: Session, asset: AssetArgument, users: UsersArgument) -> None:
    """Unsubscribe users from an asset."""
    session.output.reply(
        session.client.subscriptions.unsubscribe(asset, users),
        asset=asset,
        unsubscribed=", ".join(users),
    )


@command("subscriptions delete")
def delete_subscription(
    session: Session,
    asset: AssetArgument,
    yes: YesOption = False,
) -> None:
    """Delete all subscriptions to an asset."""
    session.confirm(f"Unsubscribe everyone from {asset}?", yes=yes)
    session.output.reply(session.client.subscriptions.delete(asset), asset=asset)


@command("subscriptions check")
def check(
    session: Session, asset: AssetArgument, user: Annotated[str, typer.Argument(metavar="USER")]
) -> None:
    """Check whether a user is subscribed to an asset; fails if not."""
    is_subscribed = session.client.subscriptions.is_subscribed(asset, user)
    session.output.reply(
        {"subscribed": is_subscribed},
        asset=asset,
        user=user,
        subscribed="yes" if is_subscribed else "no",
    )
    if not is_subscribed:
        raise typer.Exit(FAILED)
