"""The command line as a whole: its help, the groups, and the commands of all modules here."""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Annotated, Final

import typer

from vitrine import cli
from vitrine.cli.session import COMMANDS
from vitrine.cli.usage import Command
from vitrine.transport import USER_AGENT

HELP = """Store, search and download 3D assets.

Select the deployment with `vitrine login`, with --api and --key, or with
VITRINE_API and VITRINE_API_KEY. For a local runtime, use --endpoint or
VITRINE_ENDPOINT. An access token of the identity provider works as a key.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied,
5 unavailable.
"""

GROUPS: Final[Mapping[str, str]] = {
    "databases": "Databases.",
    "buckets": "Buckets that hold assets.",
    "assets": "Assets, without their files.",
    "tags": "Tags.",
    "tag-types": "Tag types.",
    "metadata": "Metadata of assets and files.",
    "metadata-schemas": "Metadata schemas: expected keys and their types.",
    "files": "Files of assets.",
    "facts": "Facts of files, for administrators.",
    "links": "Links between assets.",
    "comments": "Comments on versions of assets.",
    "versions": "Versions of assets.",
    "pipelines": "Pipelines that process files.",
    "workflows": "Workflows: sequences of pipelines.",
    "executions": "Workflow executions on assets.",
    "jobs": "Jobs: archiving, deleting and other long operations.",
    "uploads": "Unfinished uploads.",
    "sync": "A folder and an asset that are kept alike.",
    "audit": "Audit log: who changed what, and when.",
    "keys": "API keys, for administrators.",
    "roles": "Roles and their users.",
    "access": "Permissions, for administrators.",
    "users": "Users who can sign in, and profiles.",
    "subscriptions": "Email notifications about changes of assets.",
    "admin": "Operations, for administrators.",
    "databases metadata": "Metadata of databases.",
    "keys own": "Your own API keys.",
    "access constraints": "Constraints: rules that allow and deny.",
    "access template": "Permission templates for roles.",
    "admin failures": "Changes that could not be indexed or processed.",
    "admin queues": "Queues and their dead letters.",
    "admin search": "Search indexes: state, checks, repair, rebuild.",
}
FIRST: Final = (
    "login", "import", "import-bucket", "search", "suggest", "ls", "get", "download", "cat",
    "ingest", "export", "archive", "unarchive", "delete", "open", "wait", "demo", "api",
    "version", "settings", "openapi",
)  # fmt: skip
"""Commands that the help lists first, in this order."""


def print_version(wanted: bool) -> None:
    """Print the version of this package, and exit, if it is wanted."""
    if wanted:
        typer.echo(USER_AGENT.replace("/", " "))
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version of this command and exit.",
            is_eager=True,
            callback=print_version,
        ),
    ] = False,
) -> None:
    """Options before a command."""


def _app() -> typer.Typer:
    whole = typer.Typer(
        name="vitrine",
        help=HELP,
        cls=Command,
        no_args_is_help=True,
        pretty_exceptions_show_locals=False,
    )
    whole.callback()(root)
    groups = {"": whole}
    for path, text in GROUPS.items():
        parent, _, name = path.rpartition(" ")
        groups[path] = typer.Typer(help=text, no_args_is_help=True)
        groups[parent].add_typer(groups[path], name=name, rich_help_panel="Groups")
    for module in pkgutil.iter_modules(cli.__path__, f"{cli.__name__}."):
        importlib.import_module(module.name)
    for path in dict.fromkeys((*FIRST, *COMMANDS)):
        group, _, name = path.rpartition(" ")
        groups[group].command(name)(COMMANDS[path])
    return whole


app = _app()


def main() -> None:
    """Run the command and exit the process."""
    app()
