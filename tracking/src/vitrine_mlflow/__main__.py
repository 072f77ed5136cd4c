"""`python -m vitrine_mlflow config`: the settings in the table."""

import click
from mlflow.exceptions import MlflowException

from vitrine_mlflow.config import SETTINGS, Config
from vitrine_mlflow.uri import StoreAddress


class _Group(click.Group):
    """Reports what the table or a check refuses in one line."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except MlflowException as error:
            raise click.ClickException(str(error.message)) from error


@click.group()
def main() -> None:
    """Manage a table of MLflow's stores."""


@main.group("config", cls=_Group)
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
    main(prog_name="python -m vitrine_mlflow")
