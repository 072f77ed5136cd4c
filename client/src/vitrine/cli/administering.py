"""Commands for administrators of access: roles, their users, and sign-in."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, YesOption, with_session
from vitrine.errors import ConfigurationError

RoleArgument = Annotated[str, typer.Argument(metavar="ROLE")]
RolesArgument = Annotated[list[str], typer.Argument(metavar="ROLE...")]
UserArgument = Annotated[str, typer.Argument(metavar="USER")]
EmailOption = Annotated[str | None, typer.Option(help="Such as ann@example.org.")]
PhoneOption = Annotated[str | None, typer.Option(help="Such as +12345678900.")]
MfaOption = Annotated[
    bool | None, typer.Option("--mfa/--no-mfa", help="Requires MFA to be in effect.")
]


@with_session
def list_roles(session: Session) -> None:
    """List roles."""
    session.output.items(
        session.client.roles.list(),
        ["role", "second factor", "created", "description"],
        lambda one: [
            one.role_name,
            "yes" if one.mfa_required else "",
            one.created_on,
            one.description,
        ],
    )


@with_session
def create_role(
    session: Session,
    role: RoleArgument,
    description: Annotated[str | None, typer.Option(help="Purpose of the role.")] = None,
    mfa: MfaOption = None,
) -> None:
    """Create a role."""
    session.output.reply(
        session.client.roles.create(
            role, description=description or f"Role {role}", mfa_required=mfa
        ),
        role=role,
    )


@with_session
def update_role(
    session: Session,
    role: RoleArgument,
    description: Annotated[str, typer.Option(help="Purpose of the role.")],
    mfa: MfaOption = None,
) -> None:
    """Change a role."""
    session.output.reply(
        session.client.roles.update(role, description=description, mfa_required=mfa), role=role
    )


@with_session
def delete_role(session: Session, role: RoleArgument, yes: YesOption = False) -> None:
    """Delete a role and remove it from all users; with many users, by the printed job."""
    session.confirm(f"Delete the role {role} and take it from all users?", yes=yes)
    done = session.client.roles.delete(role)
    session.output.reply(done, deleted=role, job=done.job_id)


@with_session
def list_user_roles(session: Session) -> None:
    """List users with their roles."""
    session.output.items(
        session.client.roles.of_users(),
        ["user", "roles"],
        lambda one: [one.user_id, ", ".join(one.role_names)],
    )


@with_session
def give_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Add roles to a user."""
    session.output.reply(session.client.roles.give(user, roles), user=user, given=", ".join(roles))


@with_session
def set_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Replace the roles of a user."""
    session.output.reply(session.client.roles.set(user, roles), user=user, roles=", ".join(roles))


@with_session
def take_roles(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Remove all roles from a user."""
    session.confirm(f"Remove all roles from {user}?", yes=yes)
    session.output.reply(session.client.roles.take_all(user), user=user, roles="")


@with_session
def list_users(session: Session) -> None:
    """List the users of the Cognito user pool."""
    session.output.items(
        session.client.sign_ins.list(),
        ["user", "email", "phone", "status", "enabled"],
        lambda one: [
            one.user_id,
            one.email,
            one.phone,
            one.user_status,
            "yes" if one.enabled else "no",
        ],
    )


@with_session
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


@with_session
def update_user(
    session: Session, user: UserArgument, email: EmailOption = None, phone: PhoneOption = None
) -> None:
    """Change the email address or phone number of a Cognito user."""
    if email is None and phone is None:
        raise ConfigurationError("give --email or --phone")
    session.output.reply(
        session.client.sign_ins.update(user, email=email, phone=phone),
        user=user,
        email=email,
        phone=phone,
    )


@with_session
def delete_user(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Delete a user from the Cognito user pool."""
    session.confirm(f"Delete the user {user} from the user pool?", yes=yes)
    session.output.reply(session.client.sign_ins.delete(user), deleted=user)


@with_session
def reset_password(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Reset the password of a Cognito user."""
    session.confirm(f"Reset the password of {user}?", yes=yes)
    session.output.reply(session.client.sign_ins.reset_password(user), reset=user)


@with_session
def show_profile(session: Session, user: UserArgument, email: EmailOption = None) -> None:
    """Show your profile; --email sets the address for notifications."""
    profiles = session.client.profiles
    found = profiles.get(user) if email is None else profiles.keep(user, email=email)
    session.output.reply(found, user=found.user_id, email=found.email)
