"""The command that opens the page of the deployment at what is named."""

import json
from typing import Annotated
from urllib.parse import quote, urlencode

import httpx
import typer

from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError, UnreachableError
from vitrine.lookup import find_asset

# A function that has to start first responds within seconds; a person is waiting.
_SECONDS = 20


@command("open")
def open_page(
    session: Session,
    database: Annotated[str | None, typer.Argument(metavar="DATABASE")] = None,
    asset: Annotated[str | None, typer.Argument(metavar="ASSET", help="Id or name.")] = None,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="Path in the asset.")] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="Open a search, in DATABASE if it is given.")
    ] = None,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the address without opening a browser.")
    ] = False,
) -> None:
    """Open a search, database, asset or file in a browser."""
    if search is not None and asset is not None:
        raise ConfigurationError("--search finds assets: give no ASSET with it")
    page = f"{session.client.api_url.rstrip('/')}/ui/"
    # A browser would not explain that the deployment serves no page.
    try:
        with httpx.Client(transport=session.wiring.api_transport, timeout=_SECONDS) as client:
            reply = client.get(page, headers={"Accept": "text/html"})
    except httpx.HTTPError as error:
        raise UnreachableError(f"{page} does not respond: {error}") from error
    if not reply.is_success or "html" not in reply.headers.get("Content-Type", ""):
        # CloudFront serves the page at an address of its own.
        deployed = session.client.configuration.sign_in().page_url
        if deployed is None:
            raise ConfigurationError(f"this deployment serves no page at {page}")
        page = deployed
    address = page + _place(session, database, asset, file, search)
    session.output.document({"url": address})
    opened = not print_only and session.wiring.browse(address)
    if not session.output.as_json:
        session.output.line(address)
    if not opened and not print_only:
        session.output.say("no browser was found: open the address yourself")


def _place(
    session: Session, database: str | None, asset: str | None, file: str | None, search: str | None
) -> str:
    """Return the rest of the address, of what exists and the caller may see."""
    if database is None or asset is None:
        query: dict[str, str] = {} if not search else {"q": _value(search)}
        if database is not None:
            session.client.databases.get(database)
            query["facets"] = json.dumps({"str_databaseid": [database]}, separators=(",", ":"))
        return f"?{urlencode(query, quote_via=quote)}" if query else ""
    asset_reply = find_asset(session.client, database, asset)
    place = f"databases/{quote(database, safe='')}/assets/{quote(asset_reply.asset_id, safe='')}"
    if file is None:
        return place
    path = "/" + file.lstrip("/")
    session.client.files.info(database, asset_reply.asset_id, path)
    return f"{place}?{urlencode({'file': _value(path)}, quote_via=quote)}"


def _value(text: str) -> str:
    """Return a text as the page's router writes it: what reads as JSON is quoted."""
    try:
        json.loads(text)
    except ValueError:
        return text
    return json.dumps(text, ensure_ascii=False)
