"""Searches over names read full-text rows, and no row is missing from the results."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from mlflow.entities import ExperimentTag, RunTag, ViewType
from mlflow.entities.workspace import Workspace, WorkspaceDeletionMode
from vitrine_mlflow.config import RUN_NAMES, Config
from vitrine_mlflow.context import Context
from vitrine_mlflow.database import Database
from vitrine_mlflow.full_text import (
    NameIndex,
    holder_of_experiment,
    holder_of_model,
    holder_of_run,
    tokens_of,
    tokens_of_run,
)
from vitrine_mlflow.registry_store import DynamoRegistryStore
from vitrine_mlflow.store import DynamoTrackingStore
from vitrine_mlflow.workspaces import DynamoWorkspaceStore

from tests.integration.tracking.stores import Meter, Recorder, TrackingTables

FULL = "".join(map(chr, range(0x4E00, 0x4E00 + 47)))  # as many trigrams as a name's rows may have
OTHER = "".join(map(chr, range(0x5E00, 0x5E00 + 47)))
LONG = OTHER + "!"
RUN_FULL, RUN_OTHER = FULL[:-1], OTHER[:-1]  # names of runs have tokens of words, too


@pytest.fixture
def registry(table: Database) -> DynamoRegistryStore:
    return DynamoRegistryStore.of_context(Context(table, ""))


def _find_names(
    store: DynamoTrackingStore, text: str, view: Any = ViewType.ACTIVE_ONLY
) -> list[str]:
    experiments: Any = store.search_experiments(view, filter_string=f"name {text}")
    return [experiment.name for experiment in experiments]


def _models(registry: DynamoRegistryStore, text: str) -> list[str]:
    models: Any = registry.search_registered_models(f"name {text}")
    return [model.name for model in models]


def test_an_experiment_is_found_by_its_name_in_every_stage(store: DynamoTrackingStore) -> None:
    experiment_id = store.create_experiment("Wind tunnel #4")
    assert _find_names(store, "ILIKE '%TUNNEL #%'") == ["Wind tunnel #4"]
    assert _find_names(store, "LIKE '%TUNNEL%'") == []
    store.rename_experiment(experiment_id, "Water channel")
    assert _find_names(store, "LIKE '%tunnel%'") == []
    assert _find_names(store, "LIKE '%chan_el'") == ["Water channel"]
    store.delete_experiment(experiment_id)
    assert _find_names(store, "LIKE '%channel%'") == []
    assert _find_names(store, "LIKE '%channel%'", ViewType.DELETED_ONLY) == ["Water channel"]
    store.restore_experiment(experiment_id)
    assert _find_names(store, "= 'Water channel'") == ["Water channel"]


def test_rows_are_exactly_those_of_the_present_name(
    store: DynamoTrackingStore, table: Database
) -> None:
    experiment_id = store.create_experiment("one")
    holder = holder_of_experiment(experiment_id)
    for name in ["one two", FULL, OTHER, LONG, FULL, "x"]:
        store.rename_experiment(experiment_id, name)
        assert holder.stored_tokens(table) == tokens_of(name)
        assert _find_names(store, f"LIKE '%{name[-4:]}'") == [name]
    store.delete_experiment(experiment_id)
    store._hard_delete_experiment(experiment_id)  # pyright: ignore[reportPrivateUsage]
    assert not list(table.query(f"EXP#{experiment_id}"))


def test_the_longest_name_and_many_tags_are_created_whole(store: DynamoTrackingStore) -> None:
    tags = [ExperimentTag(f"k{number}", "v") for number in range(150)]
    experiment_id = store.create_experiment(FULL, None, tags)
    assert len(store.get_experiment(experiment_id).tags) == 150
    assert _find_names(store, f"LIKE '%{FULL[:5]}%'") == [FULL]
    store.create_experiment("n" * 500)
    assert _find_names(store, "LIKE '%nnn%'") == ["n" * 500]


def test_a_search_reads_rows_and_those_experiments_only(
    store: DynamoTrackingStore, tracking_tables: TrackingTables
) -> None:
    for number in range(120):
        store.create_experiment(f"experiment {number:03}")
    with Recorder(tracking_tables.client) as recorder:
        assert _find_names(store, "LIKE '%nt 07_'")[-1] == "experiment 070"
    assert recorder.indexes == {"GSI2"}
    with Meter(tracking_tables.client) as meter:
        assert _find_names(store, "ILIKE '%NT 077'") == ["experiment 077"]
    assert (meter.requests, meter.read_units <= 5) == (3, True), meter.read_units
    with Recorder(tracking_tables.client) as recorder:
        assert len(_find_names(store, "LIKE '%07%'")) == 12
    assert recorder.indexes == {"GSI5"}, "two letters select nothing"


def test_a_name_has_two_rows_for_each_token_written_in_one_transaction(
    store: DynamoTrackingStore,
    registry: DynamoRegistryStore,
    table: Database,
    tracking_tables: TrackingTables,
) -> None:
    store.create_experiment("another")  # settings are read once
    for name, tokens in (("abc", 1), ("abcdefghijkl", 10)):
        with Meter(tracking_tables.client) as meter:
            experiment_id = store.create_experiment(name)
            registry.create_registered_model(name)
        assert meter.operations.count("TransactWriteItems") == 2
        for partition in (f"EXP#{experiment_id}", f"RM#{name}"):
            rows = [item for item in table.query(partition) if item["SK"].startswith("FTS")]
            assert len(rows) == 2 * tokens, partition


def test_letters_of_too_many_names_are_not_used(
    store: DynamoTrackingStore, table: Database, tracking_tables: TrackingTables
) -> None:
    store.create_experiment("rare common")
    rows = [
        put
        for number in range(1_001)
        for put in holder_of_experiment(f"00{number}").puts(tokens_of("common"))
    ]
    table.write_in_batches(rows)
    index = NameIndex(table, "EXP")
    assert index.partitions(["com"]) is None
    with Recorder(tracking_tables.client) as recorder:
        assert _find_names(store, "LIKE '%common%'") == ["rare common"]
    assert recorder.indexes == {"GSI2", "GSI5"}
    with Recorder(tracking_tables.client) as recorder:
        assert _find_names(store, "LIKE '%rare common%'") == ["rare common"]
    assert recorder.indexes == {"GSI2"}


def test_a_model_is_found_by_its_present_name_only(
    registry: DynamoRegistryStore, table: Database
) -> None:
    registry.create_registered_model("turbine blade")
    registry.create_registered_model(LONG)
    registry.create_model_version("turbine blade", "s3://a")
    assert _models(registry, "ILIKE '%BLADE'") == ["turbine blade"]
    assert _models(registry, f"LIKE '%{LONG[-4:]}'") == [LONG]
    registry.rename_registered_model("turbine blade", FULL)
    assert _models(registry, "LIKE '%blade%'") == []
    assert _models(registry, f"LIKE '{FULL[:3]}%'") == [FULL]
    versions: Any = registry.search_model_versions(f"name LIKE '{FULL[:3]}%'", max_results=5)
    assert [version.name for version in versions] == [FULL]
    assert not holder_of_model("default", "turbine blade").stored_tokens(table)
    registry.delete_registered_model(FULL)
    assert _models(registry, f"LIKE '{FULL[:3]}%'") == []
    assert not list(table.query(f"RM#{FULL}"))


def test_a_search_over_models_reads_those_models_only(
    registry: DynamoRegistryStore, tracking_tables: TrackingTables
) -> None:
    for number in range(30):
        registry.create_registered_model(f"model {number:02}")
    with Meter(tracking_tables.client) as meter:
        assert _models(registry, "LIKE '%el 07%'") == ["model 07"]
    assert meter.requests == 3, meter.operations
    with Recorder(tracking_tables.client) as recorder:
        assert _models(registry, "LIKE '%el 07%'") == ["model 07"]
    assert recorder.indexes == {"GSI2"}


class _Workspace(NamedTuple):
    """Requests of one workspace."""

    name: str

    def active(self) -> str:
        return self.name

    def artifact_root(self, default: str, workspace: str) -> str:
        return f"{default}/{workspace}"


def test_a_search_finds_names_of_its_own_workspace_only(table: Database) -> None:
    contexts = [
        Context(table, "s3://artifacts", isolation=_Workspace(name)) for name in ("default", "team")
    ]
    stores = [DynamoTrackingStore.of_context(context) for context in contexts]
    registries = [DynamoRegistryStore.of_context(context) for context in contexts]
    for number, (store, registry) in enumerate(zip(stores, registries, strict=True)):
        store.create_experiment(f"wind tunnel {number}")
        registry.create_registered_model(f"turbine {number}")
        registry.create_registered_model("same name")
    assert [_find_names(store, "LIKE '%tunnel%'") for store in stores] == [
        ["wind tunnel 0"], ["wind tunnel 1"],
    ]  # fmt: skip
    assert [_models(registry, "LIKE '%bine%'") for registry in registries] == [
        ["turbine 0"],
        ["turbine 1"],
    ]
    assert [_models(registry, "LIKE '%same%'") for registry in registries] == [
        ["same name"],
        ["same name"],
    ]
    registries[1].delete_registered_model("same name")
    assert _models(registries[1], "LIKE '%same%'") == []
    workspaces = DynamoWorkspaceStore.of_database(table)
    workspaces.create_workspace(Workspace("team"))
    workspaces.delete_workspace("team", WorkspaceDeletionMode.SET_DEFAULT)
    assert sorted(_find_names(stores[0], "LIKE '%tunnel%'")) == ["wind tunnel 0", "wind tunnel 1"]
    assert sorted(_models(registries[0], "LIKE '%bine%'")) == ["turbine 0", "turbine 1"]
    assert _models(registries[1], "LIKE '%bine%'") == []


@pytest.mark.parametrize("allowed", range(4))
def test_a_rename_killed_at_any_request_loses_no_row(
    store: DynamoTrackingStore, table: Database, monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    experiment_id = store.create_experiment(OTHER)
    real, left = table.write, [allowed]

    def die(writes: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        real(writes)

    with monkeypatch.context() as patched:
        patched.setattr(table, "write", die)
        with suppress(KeyboardInterrupt):
            store.rename_experiment(experiment_id, FULL)
    name = store.get_experiment(experiment_id).name
    assert _find_names(store, f"LIKE '%{name[9:14]}%'") == [name]
    for other in ("between", OTHER):
        store.rename_experiment(experiment_id, other)
        assert _find_names(store, f"LIKE '%{other[-4:]}'") == [other]
    assert holder_of_experiment(experiment_id).stored_tokens(table) == tokens_of(OTHER)


# Names of runs


def _runs(store: DynamoTrackingStore, text: str, experiment_id: str) -> list[str]:
    searching: Any = store
    runs = searching.search_runs([experiment_id], f"run_name {text}", ViewType.ALL)
    return sorted(run.info.run_name for run in runs)


@pytest.fixture
def indexed(store: DynamoTrackingStore, table: Database) -> str:
    """An experiment whose runs are indexed, with some runs."""
    Config(table).set(RUN_NAMES, "on")
    store = DynamoTrackingStore.of_context(Context(table, "s3://artifacts/root"))
    experiment_id = store.create_experiment("indexed")
    for name in ["brave owl", "calm owl 7", "of", RUN_FULL, LONG]:
        store.create_run(experiment_id, "ann", 1, [], name)
    return experiment_id


def test_runs_are_found_by_letters_and_starts_of_words(
    store: DynamoTrackingStore, indexed: str, tracking_tables: TrackingTables
) -> None:
    expected = {
        "LIKE '%owl%'": ["brave owl", "calm owl 7"],
        "ILIKE 'BR%'": ["brave owl"],
        "LIKE 'o%'": ["of"],
        "LIKE '% o%'": ["brave owl", "calm owl 7"],
        "LIKE '%l 7'": ["calm owl 7"],
        f"LIKE '%{RUN_FULL[:3]}%'": [RUN_FULL],
        f"LIKE '%{LONG[-3:]}'": [LONG],
    }
    for text, names in expected.items():
        with Recorder(tracking_tables.client) as recorder:
            assert _runs(store, text, indexed) == names, text
        assert not recorder.indexes, "no list of all runs"
    with Recorder(tracking_tables.client) as recorder:
        assert _runs(store, "LIKE '%w%'", indexed) == ["brave owl", "calm owl 7"]
    assert recorder.indexes, "one letter selects nothing"


def test_renamed_and_removed_runs_leave_no_rows(
    store: DynamoTrackingStore, indexed: str, table: Database
) -> None:
    run_id = store.create_run(indexed, "ann", 1, [], "first").info.run_id
    holder = holder_of_run(indexed, run_id)
    many = [RunTag(f"k{number}", "v") for number in range(55)]
    steps: list[tuple[str, Callable[[], Any]]] = [
        (RUN_FULL, lambda: store.update_run_info(run_id, None, None, RUN_FULL)),
        (RUN_OTHER, lambda: store.set_tag(run_id, RunTag("mlflow.runName", RUN_OTHER))),
        (LONG, lambda: store.log_batch(run_id, [], [], [RunTag("mlflow.runName", LONG)])),
        (
            RUN_FULL,
            lambda: store.log_batch(run_id, [], [], [*many, RunTag("mlflow.runName", RUN_FULL)]),
        ),
        ("last", lambda: store.update_run_info(run_id, None, None, "last")),
    ]
    for name, rename in steps:
        rename()
        assert holder.stored_tokens(table) == tokens_of_run(name)
        assert name in _runs(store, f"LIKE '{name[:3]}%'", indexed)
    store.delete_run(run_id)
    assert _runs(store, "LIKE 'las%'", indexed) == ["last"]
    store._hard_delete_run(run_id)  # pyright: ignore[reportPrivateUsage]
    assert not [item for item in table.query(f"EXP#{indexed}") if run_id in item["SK"]]


def test_runs_have_no_rows_where_the_setting_was_off(
    store: DynamoTrackingStore, indexed: str, table: Database, tracking_tables: TrackingTables
) -> None:
    tags = [RunTag("a", "1"), RunTag("b", "2")]
    for experiment_id, tokens in (("0", 0), (indexed, len(tokens_of_run("brave")))):
        with Meter(tracking_tables.client) as meter:
            run_id = store.create_run(experiment_id, "ann", 1, tags, "brave").info.run_id
        assert meter.requests == 2
        keys = [item["SK"] for item in table.query(f"EXP#{experiment_id}")]
        rows = [key for key in keys if key.startswith("FTS") and run_id in key]
        assert len(rows) == 2 * tokens
