"""Commands for users who can sign in, and for profiles."""

from typing import Annotated

import typer

from vitrine.cli.options import UserArgument
from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError

EmailOption = Annotated[str | None, typer.Option(help="Such as ann@example.org.")]
PhoneOption = Annotated[str | None, typer.Option(help="Such as +12345678900.")]


@command("users list")
def list_users(session: Session) -> None:
    """List the users of the Cognito user pool."""
    session.output.items(
        session.client.sign_ins.list(),
        ["user", "email", "phone", "status", "enabled"],
        lambda sign_in: [
            sign_in.user_id,
            sign_in.email,
            sign_in.phone,
            sign_in.user_status,
            "yes" if sign_in.enabled else "no",
        ],
    )


@command("users create")
def create_user(
    session: Session,
    user: UserArgument,
    email: Annotated[str, typer.Option(help="Address to which the temporary password is sent.")],
    phone: PhoneOption = None,
) -> None:
    """Create a user in the Cognito user pool."""
    session.output.reply(
        session.client.sign_ins.create(user, email=email, phone=phone), user=user, email=email
    )


@command("users update")
def update_user(
    session: Session,
    user: UserArgument,
    email: EmailOption = None,
    phone: PhoneOption = None,
    clear_phone: Annotated[bool, typer.Option(help="Remove the phone number.")] = False,
) -> None:
    """Change the email address or phone number of a Cognito user."""
    if email is None and phone is None and not clear_phone:
        raise ConfigurationError("give --email, --phone or --clear-phone")
    session.output.reply(
        session.client.sign_ins.update(
            user, email=email, phone=phone, clear_phone=clear_phone or None
        ),
        user=user,
        email=email,
        phone=phone,
    )


@command("users delete")
def delete_user(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Delete a user from the Cognito user pool."""
    session.confirm(f"Delete the user {user} from the user pool?", yes=yes)
    session.output.reply(session.client.sign_ins.delete(user), deleted=user)


@command("users reset-password")
def reset_password(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Reset the password of a Cognito user."""
    session.confirm(f"Reset the password of {user}?", yes=yes)
    session.output.reply(session.client.sign_ins.reset_password(user), reset=user)


@command("users profile")
def show_profile(session: Session, user: UserArgument, email: EmailOption = None) -> None:
    """Show your profile; --email sets the address for notifications."""
    profiles = session.client.profiles
    profile = profiles.get(user) if email is None else profiles.keep(user, email=email)
    session.output.reply(profile, user=profile.user_id, email=profile.email)
