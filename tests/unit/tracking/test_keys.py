"""Keys are exactly those of the schema, and every key is parsed to what built it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine_mlflow import keys, table
from vitrine_mlflow.keys import ENTITIES, GIVEN_ENTITIES, Entity, Key

SEGMENT = st.text(st.characters(exclude_categories=["Cs"]))
FIELD = re.compile(r"{(\w+)}")

# The schema that this table follows: partition key, sort key.
SCHEMA = {
    ("EXP#{experiment_id}", "E#META"),
    ("EXP#{experiment_id}", "E#TAG#{key}"),
    ("EXP#{experiment_id}", "E#NAME_REV"),
    ("EXP#{experiment_id}", "R#{run_id}"),
    ("EXP#{experiment_id}", "R#{run_id}#METRIC#{key}"),
    ("EXP#{experiment_id}", "R#{run_id}#MHIST#{key}#{step}#{timestamp}#{value}"),
    ("EXP#{experiment_id}", "R#{run_id}#PARAM#{key}"),
    ("EXP#{experiment_id}", "R#{run_id}#TAG#{key}"),
    ("EXP#{experiment_id}", "R#{run_id}#INPUT#{name}"),
    ("EXP#{experiment_id}", "R#{run_id}#LM#{model_name}"),
    ("EXP#{experiment_id}", "T#{trace_id}"),
    ("EXP#{experiment_id}", "T#{trace_id}#TAG#{key}"),
    ("EXP#{experiment_id}", "T#{trace_id}#SPANS"),
    ("EXP#{experiment_id}", "D#{dataset_hash}"),
    ("EXP#{experiment_id}", "DLINK#{run_id}#{dataset_name}"),
    ("EXP#{experiment_id}", "RANK#m#{key}#{inverted_value}#{run_id}"),
    ("EXP#{experiment_id}", "RANK#p#{key}#{value}#{run_id}"),
    ("EXP#{experiment_id}", "FTS#{level}#{token}#{entity_type}#{entity_id}"),
    ("EXP#{experiment_id}", "FTS_REV#{entity_type}#{entity_id}#{level}#{token}"),
    ("RM#{model_name}", "M#META"),
    ("RM#{model_name}", "M#V#{version}"),
    ("RM#{model_name}", "M#TAG#{key}"),
    ("RM#{model_name}", "M#ALIAS#{alias}"),
    ("WORKSPACE#{workspace}", "WS#META"),
    ("USER#{username}", "U#META"),
    ("USER#{username}", "U#PERM#{experiment_id}"),
    ("USER#{username}", "U#RPERM#{model_name}"),
    ("CONFIG", "CFG#{key}"),
}
PROJECTIONS = {
    ("RUN", "gsi1", "RUN#{run_id}", "EXP#{experiment_id}"),
    ("TRACE", "gsi1", "TRACE#{trace_id}", "EXP#{experiment_id}"),
    ("EXPERIMENT", "gsi2", "WS#{workspace}", "EXP#{experiment_id}"),
    ("FTS", "gsi2", "FTS#{token}", "{level}#{entity_type}#{entity_id}"),
    ("EXPERIMENT", "gsi3", "EXPNAME#{name}", "EXP#{experiment_id}"),
    ("MODEL", "gsi3", "RMNAME#{model_name}", "RM#{model_name}"),
    ("EXPERIMENT_PERMISSION", "gsi4", "EXPPERM#{experiment_id}", "USER#{username}"),
    ("MODEL_PERMISSION", "gsi4", "RMPERM#{model_name}", "USER#{username}"),
    ("EXPERIMENT", "gsi5", "WS#{workspace}#EXP", "{ordered_name}"),
    ("MODEL", "gsi5", "RM_LIST", "{ordered_name}"),
}


def test_the_28_entity_types_have_the_keys_of_the_schema() -> None:
    assert len(GIVEN_ENTITIES) == 28
    assert {(entity.pk.text, entity.sk.text) for entity in GIVEN_ENTITIES} == SCHEMA


def test_the_keys_in_global_indexes_are_those_of_the_schema() -> None:
    declared = {
        (entity.name, index, pk.text, sk.text)
        for entity in GIVEN_ENTITIES
        for index, (pk, sk) in entity.indexes.items()
    }
    assert declared == PROJECTIONS


def test_the_table_has_five_global_and_five_local_indexes() -> None:
    request = table.create_request("t")
    assert [index["IndexName"] for index in request["GlobalSecondaryIndexes"]] == [
        f"GSI{number}" for number in range(1, 6)
    ]
    assert [
        index["KeySchema"][1]["AttributeName"] for index in request["LocalSecondaryIndexes"]
    ] == [f"lsi{number}sk" for number in range(1, 6)]


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.name)
@given(data=st.data())
def test_every_key_is_parsed_to_the_fields_that_built_it(
    entity: Entity, data: st.DataObject
) -> None:
    names = set(FIELD.findall(entity.pk.text + entity.sk.text))
    fields = {name: data.draw(SEGMENT, label=name) for name in sorted(names)}
    assert keys.parse(entity.key(**fields)) == (entity, fields)


def test_a_prefix_ends_before_the_first_missing_field() -> None:
    assert keys.METRIC_HISTORY.prefix(run_id="r", key="a#b") == "R#r#MHIST#a%23b#"
    assert keys.RUN.prefix() == "R#"


def test_metrics_sort_before_history_and_history_before_params() -> None:
    # get_run reads the two ranges around the history
    history = keys.METRIC_HISTORY.prefix(run_id="r")
    assert keys.METRIC.prefix(run_id="r") < history < keys.PARAM.prefix(run_id="r")


def test_a_key_of_no_entity_is_refused() -> None:
    with pytest.raises(ValueError, match="no entity"):
        keys.parse(Key("EXP#1", "X#1"))
