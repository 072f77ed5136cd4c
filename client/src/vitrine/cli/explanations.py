"""The command that explains a user's permissions."""

from typing import Annotated

import typer

from vitrine.cli.session import Session, command
from vitrine.quoting import quote_text
from vitrine.resources.explanations import Decision

_FIELD = "NAME=VALUE"
_NOTHING = "no constraint allows it"


@command("access explain")
def explain(
    session: Session,
    user: Annotated[str, typer.Argument(metavar="USER")],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="GET, PUT, POST or DELETE.")],
    object_type: Annotated[
        str | None,
        typer.Argument(metavar="TYPE", help="asset, database, tag …; default: the route's type."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            "-f",
            metavar=_FIELD,
            help="Field of the object: databaseId=…, assetName=…, tags=a,b; may be repeated.",
        ),
    ] = None,
    asset: Annotated[
        str | None, typer.Option(metavar="DATABASE/ASSET", help="Use this asset as object.")
    ] = None,
    route: Annotated[str | None, typer.Option(help="Also explain this path of the API.")] = None,
    mfa: Annotated[bool, typer.Option("--mfa", help="Assume sign-in with MFA.")] = False,
) -> None:
    """Explain a user's permissions on an object, with the deciding constraints."""
    fields: dict[str, str] = {}
    for text in field or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"{quote_text(text)} is not {_FIELD}")
        fields[name] = value
    if asset is not None:
        database_id, slash, asset_id = asset.partition("/")
        if not (database_id and slash and asset_id):
            raise typer.BadParameter(f"{quote_text(asset)} is not DATABASE/ASSET")
        fields |= {"databaseId": database_id, "assetId": asset_id}
    if mfa:
        fields["mfa"] = "true"
    explanations = session.client.explanations
    if object_type is not None:
        more = {} if route is None else {"route": route}
        explanation = explanations.explain(user, action, object_type, **fields, **more)
    elif route is not None:
        explanation = explanations.explain_request(user, action, route, **fields)
    else:
        raise typer.BadParameter("name the TYPE of the object, or a --route")
    session.output.document(explanation.wire())
    decisions = [("route", explanation.tier1), ("object", explanation.tier2)]
    session.output.rows(
        ["target", "decision", "constraint", "given to"],
        [row for name, decision in decisions if decision for row in _rows(name, decision)],
    )


def _rows(name: str, decision: Decision) -> list[list[str]]:
    if not decision.by:
        allowed = decision.decision == "allow"
        return [[name, decision.decision, "", "constraints do not apply" if allowed else _NOTHING]]
    return [[name, decision.decision, rule.constraint_id, rule.given_to] for rule in decision.by]
