"""Commands for API keys: of all users, for administrators, and one's own."""

from typing import Annotated, Literal

import typer

from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError
from vitrine.models import ApiKey

KeyIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Key id, as shown by `keys list`.")
]
ExpiryOption = Annotated[
    str | None, typer.Option("--expires", help="Expiry date or time, such as 2027-01-31.")
]
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
    description: Annotated[str | None, typer.Option(help="Purpose of the key.")] = None,
    expires: ExpiryOption = None,
) -> None:
    """Create an API key for a user with a role; the key is shown only now."""
    made = session.client.api_keys.create(
        name, user_id=user, description=description or f"Key {name}", expires_at=expires
    )
    session.output.reply(made, id=made.api_key_id, key=made.api_key)


@command("keys show")
def show_key(session: Session, key_id: KeyIdArgument) -> None:
    """Show the owner, state and expiry of an API key."""
    _print(session, session.client.api_keys.get(key_id))


@command("keys update")
def update_key(
    session: Session,
    key_id: KeyIdArgument,
    description: Annotated[str | None, typer.Option(help="Purpose of the key.")] = None,
    expires: ExpiryOption = None,
    active: ActiveOption = None,
) -> None:
    """Change an API key, or enable or disable it."""
    if description is None and expires is None and active is None:
        raise ConfigurationError("give --description, --expires, --on or --off")
    changed = session.client.api_keys.update(
        key_id,
        description=description,
        expires_at=expires,
        is_active=_state(active),
    )
    _print(session, changed)


@command("keys delete")
def delete_key(
    session: Session,
    key_id: KeyIdArgument,
    yes: YesOption = False,
) -> None:
    """Delete an API key; it is rejected from then on."""
    session.confirm(f"Delete the key {key_id}?", yes=yes)
    session.output.reply(session.client.api_keys.delete(key_id), deleted=key_id)


@command("keys own list")
def list_own_keys(session: Session) -> None:
    """List your API keys, without the keys themselves."""
    session.output.items(session.client.own_api_keys.list(), _HEADINGS, _row)


@command("keys own create")
def create_own_key(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    expires: Annotated[str, typer.Option("--expires", help="Expiry date or time within 365 days.")],
    description: Annotated[str | None, typer.Option(help="Purpose of the key.")] = None,
) -> None:
    """Create an API key for yourself; the key is shown only now."""
    made = session.client.own_api_keys.create(
        name, description=description or f"Key {name}", expires_at=expires
    )
    session.output.reply(made, id=made.api_key_id, key=made.api_key)


@command("keys own show")
def show_own_key(session: Session, key_id: KeyIdArgument) -> None:
    """Show the state and expiry of one of your API keys."""
    _print(session, session.client.own_api_keys.get(key_id))


@command("keys own update")
def update_own_key(
    session: Session,
    key_id: KeyIdArgument,
    description: Annotated[str | None, typer.Option(help="Purpose of the key.")] = None,
    expires: ExpiryOption = None,
    active: ActiveOption = None,
) -> None:
    """Change one of your API keys, or enable or disable it."""
    changed = session.client.own_api_keys.update(
        key_id, description=description, expires_at=expires, is_active=_state(active)
    )
    _print(session, changed)


@command("keys own delete")
def delete_own_key(session: Session, key_id: KeyIdArgument, yes: YesOption = False) -> None:
    """Delete one of your API keys; it is rejected from then on."""
    session.confirm(f"Delete the key {key_id}?", yes=yes)
    session.output.reply(session.client.own_api_keys.delete(key_id), deleted=key_id)


def _state(active: bool | None) -> Literal["true", "false"] | None:
    return None if active is None else ("true" if active else "false")


def _print(session: Session, key: ApiKey) -> None:
    session.output.document(key.wire())
    session.output.rows(_HEADINGS, [_row(key)])


def _row(key: ApiKey) -> list[object]:
    return [
        *(key.api_key_id, key.api_key_name, key.user_id, key.is_active),
        *(key.expires_at, key.description),
    ]
