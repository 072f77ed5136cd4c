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
    found = list(session.client.roles.list())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["role", "second factor", "created", "description"],
        [
            [one.role_name, "yes" if one.mfa_required else "", one.created_on, one.description]
            for one in found
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
    made = session.client.roles.create(
        role, description=description or f"Role {role}", mfa_required=mfa
    )
    session.output.document(made.wire())
    session.output.rows(["role"], [[role]])


@with_session
def update_role(
    session: Session,
    role: RoleArgument,
    description: Annotated[str, typer.Option(help="Purpose of the role.")],
    mfa: MfaOption = None,
) -> None:
    """Change a role."""
    done = session.client.roles.update(role, description=description, mfa_required=mfa)
    session.output.document(done.wire())
    session.output.rows(["role"], [[role]])


@with_session
def delete_role(session: Session, role: RoleArgument, yes: YesOption = False) -> None:
    """Delete a role and remove it from all users; with many users, by the printed job."""
    session.confirm(f"Delete the role {role} and take it from all users?", yes=yes)
    done = session.client.roles.delete(role)
    session.output.document(done.wire())
    session.output.rows(["deleted", "job"], [[role, done.job_id]])


@with_session
def list_user_roles(session: Session) -> None:
    """List users with their roles."""
    found = list(session.client.roles.of_users())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["user", "roles"], [[one.user_id, ", ".join(one.role_names)] for one in found]
    )


@with_session
def give_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Add roles to a user."""
    done = session.client.roles.give(user, roles)
    session.output.document(done.wire())
    session.output.rows(["user", "given"], [[user, ", ".join(roles)]])


@with_session
def set_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Replace the roles of a user."""
    done = session.client.roles.set(user, roles)
    session.output.document(done.wire())
    session.output.rows(["user", "roles"], [[user, ", ".join(roles)]])


@with_session
def take_roles(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Remove all roles from a user."""
    session.confirm(f"Remove all roles from {user}?", yes=yes)
    done = session.client.roles.take_all(user)
    session.output.document(done.wire())
    session.output.rows(["user", "roles"], [[user, ""]])


@with_session
def list_users(session: Session) -> None:
    """List the users of the Cognito user pool."""
    found = list(session.client.sign_ins.list())
    session.output.document({"items": [one.wire() for one in found]})
    session.output.rows(
        ["user", "email", "phone", "status", "enabled"],
        [
            [one.user_id, one.email, one.phone, one.user_status, "yes" if one.enabled else "no"]
            for one in found
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
    made = session.client.sign_ins.create(user, email=email, phone=phone)
    session.output.document(made.wire())
    session.output.rows(["user", "email"], [[user, email]])


@with_session
def update_user(
    session: Session, user: UserArgument, email: EmailOption = None, phone: PhoneOption = None
) -> None:
    """Change the email address or phone number of a Cognito user."""
    if email is None and phone is None:
        raise ConfigurationError("give --email or --phone")
    done = session.client.sign_ins.update(user, email=email, phone=phone)
    session.output.document(done.wire())
    session.output.rows(["user", "email", "phone"], [[user, email, phone]])


@with_session
def delete_user(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Delete a user from the Cognito user pool."""
    session.confirm(f"Delete the user {user} from the user pool?", yes=yes)
    done = session.client.sign_ins.delete(user)
    session.output.document(done.wire())
    session.output.rows(["deleted"], [[user]])


@with_session
def reset_password(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Reset the password of a Cognito user."""
    session.confirm(f"Reset the password of {user}?", yes=yes)
    done = session.client.sign_ins.reset_password(user)
    session.output.document(done.wire())
    session.output.rows(["reset"], [[user]])


@with_session
def show_profile(session: Session, user: UserArgument, email: EmailOption = None) -> None:
    """Show your profile; --email sets the address for notifications."""
    profiles = session.client.profiles
    found = profiles.get(user) if email is None else profiles.keep(user, email=email)
    session.output.document(found.wire())
    session.output.rows(["user", "email"], [[found.user_id, found.email]])
