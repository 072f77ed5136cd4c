"""Commands for roles and their users."""

from typing import Annotated

import typer

from vitrine.cli.options import UserArgument
from vitrine.cli.session import Session, YesOption, command
from vitrine.errors import ConfigurationError

RoleArgument = Annotated[str, typer.Argument(metavar="ROLE")]
RolesArgument = Annotated[list[str], typer.Argument(metavar="ROLE...")]
MfaOption = Annotated[
    bool | None, typer.Option("--mfa/--no-mfa", help="Requires MFA to be in effect.")
]


@command("roles list")
def list_roles(session: Session) -> None:
    """List roles."""
    session.output.items(
        session.client.roles.list(),
        ["role", "second factor", "created", "description"],
        lambda role: [
            role.role_name,
            "yes" if role.mfa_required else "",
            role.created_on,
            role.description,
        ],
    )


@command("roles create")
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


@command("roles update")
def update_role(
    session: Session,
    role: RoleArgument,
    description: Annotated[str | None, typer.Option(help="Purpose of the role.")] = None,
    mfa: MfaOption = None,
) -> None:
    """Change a role."""
    if description is None and mfa is None:
        raise ConfigurationError("give --description, --mfa or --no-mfa")
    session.output.reply(
        session.client.roles.update(role, description=description, mfa_required=mfa), role=role
    )


@command("roles delete")
def delete_role(session: Session, role: RoleArgument, yes: YesOption = False) -> None:
    """Delete a role and remove it from all users; with many users, by the printed job."""
    session.confirm(f"Delete the role {role} and take it from all users?", yes=yes)
    done = session.client.roles.delete(role)
    session.output.reply(done, deleted=role, job=done.job_id)


@command("roles users")
def list_user_roles(session: Session) -> None:
    """List users with their roles."""
    session.output.items(
        session.client.roles.of_users(),
        ["user", "roles"],
        lambda user: [user.user_id, ", ".join(user.role_names)],
    )


@command("roles give")
def give_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Add roles to a user."""
    session.output.reply(session.client.roles.give(user, roles), user=user, given=", ".join(roles))


@command("roles set")
def set_roles(session: Session, user: UserArgument, roles: RolesArgument) -> None:
    """Replace the roles of a user."""
    session.output.reply(session.client.roles.set(user, roles), user=user, roles=", ".join(roles))


@command("roles take")
def take_roles(session: Session, user: UserArgument, yes: YesOption = False) -> None:
    """Remove all roles from a user."""
    session.confirm(f"Remove all roles from {user}?", yes=yes)
    session.output.reply(session.client.roles.take_all(user), user=user, roles="")
