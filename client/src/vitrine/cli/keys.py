"""Commands for API keys: of all users, for administrators, and one's own."""

from collections.abc import Callable
from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.client import Vitrine
from vitrine.errors import ConfigurationError
from vitrine.models import ApiKey
from vitrine.resources.registry import ApiKeys, OwnApiKeys

KeyIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Key id, as shown by `keys list`.")
]
ExpiryOption = Annotated[
    str | None, typer.Option("--expires", help="Expiry date or time, such as 2027-01-31.")
]
DescriptionOption = Annotated[str | None, typer.Option(help="Purpose of the key.")]
ActiveOption = Annotated[bool | None, typer.Option("--on/--off", help="Enable or disable the key.")]

_HEADINGS = ["id", "name", "user", "active", "expires", "description"]


@command("keys list")
def list_keys(
    session: Session,
    sessions: Annotated[
        bool, typer.Option("--sessions", help="Show sessions of browsers, too.")
    ] = False,
) -> None:
    """List API keys, without the keys themselves."""
    keys = session.client.api_keys.list(show_sessions=sessions or None)
    session.output.items(keys, _HEADINGS, _row)


@command("keys create")
def create_key(
    session: Session,
    user: Annotated[
        str, typer.Argument(metavar="USER", help="User whose permissions the key has.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME")],
    description: DescriptionOption = None,
    expires: ExpiryOption = None,
) -> None:
    """Create an API key for a user with a role; the key is shown only now."""
    created = session.client.api_keys.create(
        name, user_id=user, description=description or f"Key {name}", expires_at=expires
    )
    session.output.reply(created, id=created.api_key_id, key=created.api_key)


@command("keys own list")
def list_own_keys(session: Session) -> None:
    """List your API keys, without the keys themselves."""
    session.output.items(session.client.own_api_keys.list(), _HEADINGS, _row)


@command("keys own create")
def create_own_key(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    expires: Annotated[str, typer.Option("--expires", help="Expiry date or time within 365 days.")],
    description: DescriptionOption = None,
) -> None:
    """Create an API key for yourself; the key is shown only now."""
    created = session.client.own_api_keys.create(
        name, description=description or f"Key {name}", expires_at=expires
    )
    session.output.reply(created, id=created.api_key_id, key=created.api_key)


def _add_commands_for_key(
    group: str, keys_of: Callable[[Vitrine], ApiKeys | OwnApiKeys], noun: str
) -> None:
    """Add the commands for a key, which are the same for all keys and for one's own."""

    def show(session: Session, key_id: KeyIdArgument) -> None:
        any_keys = keys_of(session.client)
        print_key(session, any_keys.get(key_id))

    def update(
        session: Session,
        key_id: KeyIdArgument,
        description: DescriptionOption = None,
        expires: ExpiryOption = None,
        active: ActiveOption = None,
    ) -> None:
        if description is None and expires is None and active is None:
            raise ConfigurationError("give --description, --expires, --on or --off")
        state = None if active is None else ("true" if active else "false")
        any_keys = keys_of(session.client)
        key = any_keys.update(key_id, description=description, expires_at=expires, is_active=state)
        print_key(session, key)

    def delete(session: Session, key_id: KeyIdArgument, yes: YesOption = False) -> None:
        session.confirm(f"Delete the key {key_id}?", yes=yes)
        any_keys = keys_of(session.client)
        session.output.reply(any_keys.delete(key_id), deleted=key_id)

    def print_key(session: Session, key: ApiKey) -> None:
        session.output.document(key.wire())
        session.output.rows(_HEADINGS, [_row(key)])

    show.__doc__ = f"Show the owner, state and expiry of {noun}."
    update.__doc__ = f"Change {noun}, or enable or disable it."
    delete.__doc__ = f"Delete {noun}; it is rejected from then on."
    for function in (show, update, delete):
        command(f"{group} {function.__name__}")(function)


_add_commands_for_key("keys", lambda client: client.api_keys, "an API key")
_add_commands_for_key("keys own", lambda client: client.own_api_keys, "one of your API keys")


def _row(key: ApiKey) -> list[object]:
    return [
        *(key.api_key_id, key.api_key_name, key.user_id, key.is_active),
        *(key.expires_at, key.description),
    ]
