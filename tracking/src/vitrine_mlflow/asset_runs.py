"""The runs that used an asset of Vitrine as a dataset; the command `vitrine runs` lists them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from mlflow.entities import Run, RunInfo, ViewType
from mlflow.tracking import MlflowClient

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database
from vitrine_mlflow.expressions import key_of
from vitrine_mlflow.runs import StoredRun
from vitrine_mlflow.uri import SCHEME, StoreAddress
from vitrine_mlflow.vitrine_link import AssetUse

# A tracking server has no filter by asset, so all runs are read, in pages (decision 73).
_PAGE = 1_000


@dataclass(frozen=True)
class AssetRun:
    """One use of an asset by a run."""

    info: RunInfo
    dataset: str
    version: str | None
    path: str
    digest: str


def runs_of_asset(tracking_uri: str, database: str, asset: str) -> list[AssetRun]:
    """The runs that used an asset, deleted ones too, newest first.

    Raises:
        MlflowException: the table or the server could not be read.
    """
    if tracking_uri.startswith(f"{SCHEME}:"):
        uses = _of_table(StoreAddress.parse(tracking_uri).connect(), database, asset)
    else:
        # MLflow's API has no query by dataset, so all runs of a server are read. A table has items
        # of these uses (decision 73).
        uses = list(_of_server(MlflowClient(tracking_uri), database, asset))
    return sorted(uses, key=lambda use: use.info.start_time or 0, reverse=True)


def _of_table(table: Database, database: str, asset: str) -> list[AssetRun]:
    pk = keys.ASSET_RUN.pk.build({"database": database, "asset": asset})
    uses: list[tuple[keys.Key, str, Any]] = []
    for item in table.query(pk):
        run_id = (keys.ASSET_RUN.parse(key_of(item)) or {})["run_id"]
        uses.append(
            (keys.RUN.key(experiment_id=item["experiment_id"], run_id=run_id), run_id, item)
        )
    runs = table.get_many(key for key, _, _ in uses) if uses else {}
    return [
        AssetRun(
            StoredRun(item["experiment_id"], run_id, runs[key]).entity(),
            item["dataset"],
            item["version"],
            item["path"],
            item["digest"],
        )
        for key, run_id, item in uses
        if key in runs  # the rest was permanently removed
    ]


def _of_server(client: MlflowClient, database: str, asset: str) -> Iterator[AssetRun]:
    for run in _all_runs(client):
        for used in run.inputs.dataset_inputs if run.inputs else []:
            use = AssetUse.of(used.dataset.source_type, used.dataset.source)
            if use and (use.address.database, use.address.asset) == (database, asset):
                address = use.address
                yield AssetRun(
                    run.info, used.dataset.name, address.version, address.path, use.digest
                )


def _all_runs(client: MlflowClient) -> Iterator[Run]:
    searching: Any = client  # MLflow declares its pages without their types

    def experiments(token: str | None) -> Any:
        return searching.search_experiments(ViewType.ALL, page_token=token)

    for experiment in _pages(experiments):
        ids = [experiment.experiment_id]
        search = partial(searching.search_runs, ids, "", ViewType.ALL, _PAGE, None)
        yield from _pages(search)


def _pages(read: Callable[[str | None], Any]) -> Iterator[Any]:
    token: str | None = None
    while True:
        page = read(token)
        yield from page
        token = page.token
        if not token:
            return
