"""The command for runs of MLflow that used an asset; it needs the package `vitrine-mlflow`."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import JsonValue

from vitrine.cli.options import AssetArgument, DatabaseArgument
from vitrine.cli.session import Session, command
from vitrine.errors import ConfigurationError, VitrineError
from vitrine.lookup import find_asset

if TYPE_CHECKING:
    from vitrine_mlflow.asset_runs import AssetRun

TRACKING_VARIABLE: Final = "MLFLOW_TRACKING_URI"
_INSTALL: Final = "this command needs MLflow's stores: pip install 'vitrine-client[mlflow]'"


@command("runs")
def runs(
    session: Session,
    database: DatabaseArgument,
    asset: AssetArgument,
    tracking_uri: Annotated[
        str | None,
        typer.Option(help=f"dynamodb://TABLE or a tracking server; default: {TRACKING_VARIABLE}."),
    ] = None,
    version: Annotated[str | None, typer.Option(help="Only uses of this version.")] = None,
) -> None:
    """List the MLflow runs that used an asset, newest first."""
    address = tracking_uri or session.wiring.environment.get(TRACKING_VARIABLE)
    if not address:
        raise ConfigurationError(f"no tracking server: use --tracking-uri or {TRACKING_VARIABLE}")
    asset_reply = find_asset(session.client, database, asset, archived=True)
    used = [
        run
        for run in _read(address, database, asset_reply.asset_id)
        if version is None or run.version == version
    ]
    session.output.document({"runs": [_document(run) for run in used]})
    session.output.rows(
        ["run", "name", "experiment", "status", "started", "version", "path", "digest"],
        [
            [
                run.info.run_id,
                run.info.run_name,
                run.info.experiment_id,
                _status(run),
                _time(run.info.start_time),
                run.version,
                run.path,
                run.digest,
            ]
            for run in used
        ],
    )


def _read(address: str, database: str, asset_id: str) -> "list[AssetRun]":
    try:
        from mlflow.exceptions import MlflowException  # noqa: PLC0415 - optional, and slow
        from vitrine_mlflow.asset_runs import runs_of_asset  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(_INSTALL) from error
    try:
        return runs_of_asset(address, database, asset_id)
    except MlflowException as error:
        raise VitrineError(str(error)) from error


def _document(asset_run: "AssetRun") -> JsonValue:
    info = asset_run.info
    return {
        "runId": info.run_id,
        "runName": info.run_name,
        "experimentId": info.experiment_id,
        "status": info.status,
        "lifecycleStage": info.lifecycle_stage,
        "startTime": info.start_time,
        "dataset": asset_run.dataset,
        "version": asset_run.version,
        "path": asset_run.path,
        "digest": asset_run.digest,
    }


def _status(asset_run: "AssetRun") -> str:
    deleted = asset_run.info.lifecycle_stage == "deleted"
    return f"{asset_run.info.status} (deleted)" if deleted else str(asset_run.info.status)


def _time(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC).isoformat(timespec="seconds")
