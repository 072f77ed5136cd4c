"""Keys and access patterns of the table, and the names in it."""

import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

import mlflow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlflow.exceptions import MlflowException  # first: MLflow imports the stores of this package
from vitrine_mlflow import keys, table
from vitrine_mlflow.comparisons import COMPARISONS, ascii_lower
from vitrine_mlflow.database import Database
from vitrine_mlflow.encoding import SORT_KEY_BYTES
from vitrine_mlflow.expressions import key_of
from vitrine_mlflow.full_text import (
    MANY,
    MOST_TOKENS,
    TRIGRAM,
    WORD,
    Token,
    holder_of_experiment,
    holder_of_model,
    holder_of_run,
    required_trigrams,
    required_words,
    tokens_of,
    tokens_of_run,
    trigrams,
)
from vitrine_mlflow.invisible import check_visible as check_name
from vitrine_mlflow.keys import ENTITIES, GIVEN_ENTITIES, Entity, Key
from vitrine_mlflow.patterns import PATTERNS, AccessPattern

from backend.core.invisible import check_visible

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


# how many patterns the schema lists by area
AREAS = {
    "Experiments": 8,
    "Runs": 10,
    "Metrics, params and tags": 8,
    "Search and ranking": 5,
    "Traces": 7,
    "Datasets": 4,
    "Logged models": 2,
    "Model registry": 10,
    "Authentication and authorization": 9,
    "Workspace": 2,
    "Configuration": 3,
}


def test_all_68_patterns_are_declared_once() -> None:
    assert Counter(pattern.area for pattern in PATTERNS) == AREAS
    assert len({pattern.name for pattern in PATTERNS}) == 68


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_names_its_function(pattern: AccessPattern) -> None:
    assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first
    member: Any = import_module("vitrine_mlflow")
    path = pattern.function.split(".")
    for number, name in enumerate(path):
        if not hasattr(member, name):
            import_module(".".join(["vitrine_mlflow", *path[: number + 1]]))
        member = getattr(member, name)
    assert callable(member)


PAGES = 60


class PagingClient:
    """Returns one item on each of many pages, as DynamoDB does where items are large."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def query(self, **parameters: Any) -> dict[str, Any]:
        self.limits.append(parameters["Limit"])
        key = {"PK": {"S": "EXP#0"}, "SK": {"S": f"R#{len(self.limits):03}"}}
        more = {"LastEvaluatedKey": key} if len(self.limits) < PAGES else {}
        return {"Items": [key], **more}


def test_the_limit_of_a_query_of_many_pages_grows_to_ten_thousand() -> None:
    client: Any = PagingClient()
    assert len(list(Database(client, "table").query("EXP#0", limit=100))) == PAGES
    assert client.limits[:4] == [100, 200, 400, 800]
    assert set(client.limits[7:]) == {10_000}


def test_a_key_that_dynamodb_refuses_is_refused_before_the_request() -> None:
    client: Any = PagingClient()
    with pytest.raises(MlflowException, match="more than 1024"):
        Database(client, "table").get(Key("EXP#0", "R#" + "x" * 1_100))


def test_users_of_the_tracking_server_have_the_same_invisible_characters() -> None:
    def refuses(check: Callable[[str], object], char: str) -> bool:
        try:
            check(f"a{char}b")
            check(f"ab{char}")
        except (ValueError, MlflowException):
            return True
        return False

    def of_tracking(name: str) -> None:
        check_name(name, "Username")

    differing = [
        f"U+{code:04X}"
        for code in (*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE1000))
        if refuses(check_visible, chr(code)) != refuses(of_tracking, chr(code))
    ]
    assert not differing


CHARACTERS = st.characters(exclude_categories=["Cs"])
FEW = st.sampled_from("abAB #%-éÉ.1")
TEXT = st.text(FEW, max_size=30) | st.text(CHARACTERS, max_size=60)


@st.composite
def text_and_pattern(draw: st.DrawFn) -> tuple[str, str, str]:
    """A text, a comparator and a pattern that matches the text."""
    text, comparator = draw(TEXT), draw(st.sampled_from(["LIKE", "ILIKE"]))
    pattern = "".join(draw(st.sampled_from([char, char, char, "_", "%"])) for char in text)
    if comparator == "ILIKE":
        pattern = "".join(char.swapcase() if char.isascii() else char for char in pattern)
    return text, comparator, draw(st.sampled_from(["", "%"])) + pattern


@given(text_and_pattern())
def test_a_matching_text_has_all_that_the_pattern_requires(drawn: tuple[str, str, str]) -> None:
    text, comparator, pattern = drawn
    assert COMPARISONS[comparator](text, pattern)
    tokens = tokens_of_run(text)
    words = [token.text for token in tokens if token.level == WORD]
    if MANY in tokens:
        return
    for trigram in required_trigrams(comparator, pattern):
        assert Token(TRIGRAM, trigram) in tokens
    for start in required_words(pattern):
        assert any(word.startswith(start) for word in words)


@given(TEXT)
def test_an_equal_text_has_all_its_trigrams(text: str) -> None:
    assert required_trigrams("=", text) == trigrams(text)


def test_what_a_pattern_requires() -> None:
    assert required_trigrams("LIKE", "%Abcd_ef%ghi") == ["abc", "bcd", "ghi"]
    assert required_trigrams("LIKE", "%ab%") == []
    assert required_trigrams("!=", "abc") == []
    assert required_words("ab c%d%-Ef_g") == ["ab", "c", "ef"]


@given(TEXT | st.text(CHARACTERS, min_size=48, max_size=200))
def test_a_text_has_at_most_so_many_tokens(text: str) -> None:
    assert len(tokens_of(text)) <= MOST_TOKENS
    assert len(tokens_of_run(text)) <= MOST_TOKENS


def test_a_text_with_too_many_trigrams_has_one_token_that_is_no_trigram() -> None:
    assert tokens_of("".join(map(chr, range(0x4E00, 0x4E00 + MOST_TOKENS + 2)))) != {MANY}
    assert tokens_of("".join(map(chr, range(0x4E00, 0x4E00 + MOST_TOKENS + 3)))) == {MANY}
    assert len(MANY.text) != 3


@given(st.text(CHARACTERS, min_size=1, max_size=300))
def test_rows_are_parsed_to_their_tokens_and_fit_into_keys(name: str) -> None:
    tokens = tokens_of_run(name)
    holders = [
        holder_of_experiment("7"), holder_of_model("default", name),
        holder_of_model("team#a", name), holder_of_run("7", "abc"),
    ]  # fmt: skip
    for holder in holders:
        rows = [put.item for put in holder.puts(tokens)]
        assert [key_of(row) for row in rows] == [removal.key for removal in holder.deletes(tokens)]
        parsed = [keys.parse(key_of(row)) for row in rows]
        assert {Token(fields["level"], fields["token"]) for _, fields in parsed} == tokens
        names = {entity.name for entity, _ in parsed}
        assert names <= {holder.forward.name, holder.reverse.name}
        assert all(len(key_of(row).sk.encode()) <= SORT_KEY_BYTES for row in rows)
        assert all(len(row.get("gsi2sk", "").encode()) <= SORT_KEY_BYTES for row in rows)


def test_only_ascii_letters_lose_their_case() -> None:
    assert ascii_lower("AÉaé") == "aÉaé"
    assert trigrams("AÉB") == ["aÉb"]
