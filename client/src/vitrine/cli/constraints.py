"""Commands for constraints and permission templates."""

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from vitrine.cli.session import FAILED, Session, YesOption, command
from vitrine.cli.standard_streams import is_standard, read_json
from vitrine.errors import ConfigurationError
from vitrine.resources.constraints import ROLE_NAME, Template

ConstraintArgument = Annotated[str, typer.Argument(metavar="CONSTRAINT")]
TemplateArgument = Annotated[
    str,
    typer.Argument(
        metavar="TEMPLATE",
        help="Template name (see `template list`), or a JSON file; - reads standard input.",
    ),
]


@command("access constraints list")
def list_constraints(session: Session) -> None:
    """List constraints."""
    session.output.items(
        session.client.constraints.list(),
        ["constraint", "type", "name", "given to"],
        lambda constraint: [
            constraint.constraint_id,
            constraint.object_type,
            constraint.name,
            ", ".join(
                [
                    *sorted({role.group_id for role in constraint.group_permissions}),
                    *sorted({user.user_id for user in constraint.user_permissions}),
                ]
            ),
        ],
    )


@command("access constraints show")
def show_constraint(session: Session, constraint: ConstraintArgument) -> None:
    """Show a constraint."""
    constraint_reply = session.client.constraints.get(constraint)
    session.output.document(constraint_reply.wire())
    session.output.rows(
        ["criteria", "field", "operator", "value"],
        [
            [block, criterion.field, criterion.operator, _text(criterion.value)]
            for block, criteria in (
                ("all of", constraint_reply.criteria_and),
                ("one of", constraint_reply.criteria_or),
            )
            for criterion in criteria
        ],
    )
    session.output.rows(
        ["given to", "permission", ""],
        [
            *(
                [f"role {permission.group_id}", permission.permission, permission.permission_type]
                for permission in constraint_reply.group_permissions
            ),
            *(
                [f"user {permission.user_id}", permission.permission, permission.permission_type]
                for permission in constraint_reply.user_permissions
            ),
        ],
    )


@command("access constraints put")
def put_constraint(
    session: Session,
    constraint: ConstraintArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="JSON file in the format of `show --json`; - reads standard input."
        ),
    ],
) -> None:
    """Create or replace a constraint from a JSON file."""
    done = session.client.constraints.put(constraint, read_json(file, dict[str, JsonValue]))
    session.output.document(done.wire())
    session.output.rows(
        ["constraint", ""], [[constraint, warning] for warning in done.warnings or [""]]
    )


@command("access constraints check")
def check_constraints(session: Session) -> None:
    """List constraints that decide differently than in earlier releases; fails if there are any."""
    constraints = [
        constraint for constraint in session.client.constraints.list() if constraint.changed_meaning
    ]
    session.output.document({"items": [constraint.wire() for constraint in constraints]})
    session.output.rows(
        ["constraint", "type", "change"],
        [
            [constraint.constraint_id, constraint.object_type, change]
            for constraint in constraints
            for change in constraint.changed_meaning or []
        ],
    )
    if constraints:
        raise typer.Exit(FAILED)


@command("access constraints delete")
def delete_constraint(
    session: Session,
    constraint: ConstraintArgument,
    yes: YesOption = False,
) -> None:
    """Delete a constraint and the permissions it grants."""
    session.confirm(f"Delete the constraint {constraint}?", yes=yes)
    session.output.reply(session.client.constraints.delete(constraint), deleted=constraint)


@command("access template list")
def list_templates(session: Session) -> None:
    """List the permission templates that ship with the product."""
    session.output.items(
        session.client.templates.standard(),
        ["template", "variables", "description"],
        lambda item: [
            item.template.name,
            ", ".join(variable.name for variable in item.variables),
            item.template.description,
        ],
    )


@command("access template apply")
def apply_template(
    session: Session,
    template: TemplateArgument,
    role: Annotated[str, typer.Option(help="Role that gets the constraints.")],
    database: Annotated[str | None, typer.Option(help="Value of the variable DATABASE_ID.")] = None,
    tag: Annotated[str | None, typer.Option(help="Value of the variable TAG_VALUE.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Value of any other variable, as NAME=VALUE."
        ),
    ] = None,
) -> None:
    """Create a role's constraints from a template; replaces those created before."""
    values: dict[str, str] = {}
    for text in set_ or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigurationError(f"--set takes NAME=VALUE, not {text}")
        values[name] = value
    values[ROLE_NAME] = role
    if database is not None:
        values["DATABASE_ID"] = database
    if tag is not None:
        values["TAG_VALUE"] = tag
    done = session.client.templates.apply(_template(session, template), values)
    session.output.document(done.wire())
    session.output.rows(
        ["role", "constraint"], [[role, constraint_id] for constraint_id in done.constraint_ids]
    )
    if done.warnings:
        session.output.rows(["warning"], [[warning] for warning in done.warnings])


def _template(session: Session, name: str) -> Template:
    known = {item.template.name: item for item in session.client.templates.standard()}
    if name in known:
        return known[name]
    path = Path(name)
    if not is_standard(path) and not path.is_file():
        raise ConfigurationError(
            f"there is no template {name}; the templates are {', '.join(known)}"
        )
    return read_json(path, Template)


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
