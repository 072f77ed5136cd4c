"""The command `vitrine-mlflow`: creates a table, and manages the settings in it."""

import re

import click
from botocore.exceptions import NoRegionError
from mlflow.exceptions import MlflowException

from vitrine_mlflow.config import SETTINGS, Config
from vitrine_mlflow.creation import ensure_table
from vitrine_mlflow.table import GLOBAL_INDEXES, LOCAL_INDEXES
from vitrine_mlflow.uri import StoreAddress

_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


class _Group(click.Group):
    """Reports what the table or a check refuses in one line."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except MlflowException as error:
            raise click.ClickException(str(error.message)) from error
        except NoRegionError as error:
            raise click.ClickException(
                "No AWS region is configured: pass --region, or set AWS_DEFAULT_REGION."
            ) from error


@click.group(cls=_Group)
def main() -> None:
    """Manage a table of MLflow's stores."""


@main.command("create-table")
@click.option("--table", required=True, metavar="NAME", help="The name of the table.")
@click.option("--region", help="The AWS region; by default that of the AWS configuration.")
@click.option("--endpoint-url", metavar="URL", help="Another DynamoDB, such as DynamoDB Local.")
def create_table(table: str, region: str | None, endpoint_url: str | None) -> None:
    """Create a table with its indexes, unless it exists; billed on demand."""
    if not _TABLE_NAME.fullmatch(table):
        raise click.BadParameter(
            f"'{table}' is no name of a table: 3 to 255 letters, digits, '_', '-' and '.'",
            param_hint="--table",
        )
    try:
        client = StoreAddress(table, region, endpoint_url).client()
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--endpoint-url") from error
    region = client.meta.region_name
    indexes = f"{len(GLOBAL_INDEXES)} global and {len(LOCAL_INDEXES)} local indexes"
    if ensure_table(client, table):
        click.echo(f"Created the table '{table}' in {region}, with {indexes}.")
    else:
        click.echo(f"The table '{table}' exists in {region}, with {indexes}. Nothing was changed.")
    address = StoreAddress(table, region, endpoint_url).uri
    click.echo(f"Start a server on it: mlflow server --backend-store-uri '{address}'")


@main.group("config")
@click.option(
    "--backend-store-uri",
    envvar="MLFLOW_BACKEND_STORE_URI",
    required=True,
    help="dynamodb://TABLE?region=…&endpoint=…",
)
@click.pass_context
def config_group(context: click.Context, backend_store_uri: str) -> None:
    """Read and change the settings in the table."""
    context.obj = Config(StoreAddress.parse(backend_store_uri).connect())


@config_group.command("list")
@click.pass_obj
def list_settings(config: Config) -> None:
    """Print all settings with their values."""
    for key, text in config.all().items():
        click.echo(f"{key} = {text}  # {SETTINGS[key].description}")


@config_group.command("get")
@click.argument("key")
@click.pass_obj
def get_setting(config: Config, key: str) -> None:
    """Print the value of a setting."""
    click.echo(config.get(key))


@config_group.command("set")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_setting(config: Config, key: str, value: str) -> None:
    """Change a setting."""
    config.set(key, value)


if __name__ == "__main__":
    main(prog_name="vitrine-mlflow")
