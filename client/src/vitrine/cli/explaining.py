"""The command that explains why somebody may, or may not, do something."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, with_session
from vitrine.resources.explanations import Decision

_FIELD = "NAME=VALUE"


@with_session
def explain(
    session: Session,
    user: Annotated[str, typer.Argument(metavar="USER")],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="GET, PUT, POST or DELETE.")],
    object_type: Annotated[str, typer.Argument(metavar="TYPE", help="asset, database, tag …")],
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            "-f",
            metavar=_FIELD,
            help="Of the object: databaseId=…, assetName=…, tags=a,b; may be repeated.",
        ),
    ] = None,
    route: Annotated[str | None, typer.Option(help="Explain this path of the API too.")] = None,
    mfa: Annotated[bool, typer.Option("--mfa", help="As with a second factor.")] = False,
) -> None:
    """Tell what is decided about a user and an object, and by which constraints."""
    fields = dict(_parsed(each) for each in field or [])
    if route is not None:
        fields["routePath"] = route
    if mfa:
        fields["mfa"] = "true"
    found = session.client.explanations.explain(user, action, object_type, **fields)
    session.output.document(found.wire())
    decisions = [("route", found.tier1), ("object", found.tier2)]
    session.output.rows(
        ["asked of", "decision", "constraint", "given to"],
        [row for name, decision in decisions if decision for row in _rows(name, decision)],
    )


def _parsed(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise typer.BadParameter(f"{text!r} is not {_FIELD}")
    return name, value


def _rows(name: str, decision: Decision) -> list[list[str]]:
    if not decision.by:
        return [[name, decision.decision, "", "nothing allows it"]]
    return [[name, decision.decision, one.constraint_id, one.given_to] for one in decision.by]
