"""Full-text rows: names by the letters in them, so that LIKE reads few of them.

Rows only select candidates. Callers read the candidates themselves and applies every
condition, so a row of a former name costs a read, while a missing one would lose a result.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from vitrine_mlflow import keys
from vitrine_mlflow.comparisons import ascii_lower
from vitrine_mlflow.database import Database, Range
from vitrine_mlflow.encoding import clip
from vitrine_mlflow.expressions import Delete, Put, key_of, with_key
from vitrine_mlflow.keys import Entity
from vitrine_mlflow.ownership import RUN_TYPE
from vitrine_mlflow.table import GSI2, PARTITION_KEY, SORT_KEY

EXPERIMENT_TYPE, MODEL_TYPE = "EXP", "RM"
TRIGRAM, WORD = "3", "w"
MOST_TOKENS = 45  # each has two rows, and all fit into the transaction that writes the name
# Room for the id in a row's key, of 1,024 bytes.
_ID_BYTES = 200
# A longer word is found by its start: rows only select candidates (decision 70).
_WORD_LENGTH = 60
_WORDS = re.compile(r"[^\W_]+")
_WILDCARDS = re.compile("[%_]")
_MOST_ROWS = 1_000  # a token that more names have selects too little
_FEW = 10  # to read these costs about as much as to select fewer


class Token(NamedTuple):
    """A part of a text. The level is how the text was split."""

    level: str
    text: str


# Replaces the trigrams of a text that has too many. Its four letters distinguish it from trigrams.
MANY = Token(TRIGRAM, "many")


def trigrams(text: str) -> list[str]:
    """All three letters that follow each other in a text, without the case of ASCII letters."""
    lowered = ascii_lower(text)
    return list(dict.fromkeys(lowered[start : start + 3] for start in range(len(lowered) - 2)))


def tokens_of(name: str) -> frozenset[Token]:
    """The tokens under which a name is found."""
    tokens = frozenset(Token(TRIGRAM, part) for part in trigrams(name))
    return tokens if len(tokens) <= MOST_TOKENS else frozenset([MANY])


def tokens_of_run(name: str) -> frozenset[Token]:
    """Return the tokens of a run's name; runs are also found by the start of a word."""
    words = frozenset(
        Token(WORD, word[:_WORD_LENGTH]) for word in _WORDS.findall(ascii_lower(name))
    )
    tokens = tokens_of(name) | words
    return tokens if len(tokens) <= MOST_TOKENS else frozenset([MANY])


def required_trigrams(comparator: str, value: str) -> list[str]:
    """Return the trigrams of every text that meets the condition; empty if it requires none."""
    parts: list[str] = []
    if comparator == "=":
        parts = [value]
    elif comparator in {"LIKE", "ILIKE"}:
        parts = _WILDCARDS.split(value)
    return list(dict.fromkeys(trigram for part in parts for trigram in trigrams(part)))


def required_words(pattern: str) -> list[str]:
    """Return the starts of words that every text contains which is LIKE the pattern."""
    return [
        match.group()[:_WORD_LENGTH]
        for number, part in enumerate(_WILDCARDS.split(ascii_lower(pattern)))
        for match in _WORDS.finditer(part)
        if match.start() > 0 or number == 0  # otherwise letters may come before it
    ]


def trigrams_of_filters(filters: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the required trigrams of all conditions on a name, as MLflow's parsers return them."""
    named = [
        condition
        for condition in filters
        if (condition["type"], condition["key"]) == ("attribute", "name")
    ]
    required = [
        required_trigrams(condition["comparator"], condition["value"]) for condition in named
    ]
    return list(dict.fromkeys(chain(*required)))


@dataclass(frozen=True)
class Holder:
    """An entity with a text, and the rows of that text in the entity's partition."""

    forward: Entity
    reverse: Entity
    fields: Mapping[str, str]
    globally: bool = True  # found from outside of its partition

    def puts(self, tokens: Iterable[Token]) -> list[Put]:
        """Both rows of each token."""
        return [put for token in sorted(tokens) for put in self._puts(self._with(token))]

    def _puts(self, fields: Mapping[str, str]) -> list[Put]:
        indexed = self.forward.index_keys(**fields) if self.globally else {}
        return [
            Put(with_key(self.forward.key(**fields), indexed)),
            Put(with_key(self.reverse.key(**fields), {})),
        ]

    def deletes(self, tokens: Iterable[Token]) -> list[Delete]:
        return [
            Delete(row.key(**self._with(token)))
            for token in sorted(tokens)
            for row in (self.forward, self.reverse)
        ]

    def _with(self, token: Token) -> dict[str, str]:
        return {**self.fields, "level": token.level, "token": token.text}

    def stored_tokens(self, database: Database) -> frozenset[Token]:
        """The tokens of the rows that exist, by the reverse rows."""
        pk = self.reverse.key(**self._with(MANY)).pk
        items = database.query_prefix(pk, self.reverse.prefix(**self.fields))
        parsed = [self.reverse.parse(key_of(item)) or {} for item in items]
        return frozenset(Token(fields["level"], fields["token"]) for fields in parsed)


def holder_of_experiment(experiment_id: str) -> Holder:
    fields = {
        "experiment_id": experiment_id,
        "entity_type": EXPERIMENT_TYPE,
        "entity_id": experiment_id,
    }
    return Holder(keys.FTS, keys.FTS_REV, fields)


def holder_of_model(workspace: str, name: str) -> Holder:
    fields = {
        "workspace": workspace,
        "model_name": name,
        "entity_type": MODEL_TYPE,
        "entity_id": clip(name, _ID_BYTES),  # the partition has the whole name
    }
    return Holder(keys.MODEL_FTS, keys.MODEL_FTS_REV, fields)


def holder_of_run(experiment_id: str, run_id: str) -> Holder:
    fields = {"experiment_id": experiment_id, "entity_type": RUN_TYPE, "entity_id": run_id}
    return Holder(keys.FTS, keys.FTS_REV, fields, globally=False)


class NameIndex:
    """Names of experiments or models by their trigrams, in the global index, which may lag."""

    def __init__(self, database: Database, entity_type: str) -> None:
        self._database = database
        self._range = Range.of_prefix(f"{TRIGRAM}#{entity_type}#")

    def partitions(self, required: list[str]) -> set[str] | None:
        """Partitions of candidates that may have all these trigrams, in any workspace.

        None if the trigrams select too little: reading a list costs less then.
        """
        return _select_rows(_spread(required), MANY.text, self.rows_with)

    def rows_with(self, token: str) -> set[str] | None:
        """Partitions with a row of a token, None if there are too many."""
        pk, _ = keys.FTS.indexes["gsi2"]
        rows = self._database.query(
            pk.build({"token": token}), self._range, index=GSI2, limit=_MOST_ROWS + 1
        )
        return _at_most(item[PARTITION_KEY] for item in rows)


class RunNames:
    """Runs of one experiment by their names; read consistently."""

    def __init__(self, database: Database, experiment_id: str) -> None:
        self._database = database
        self._pk = keys.EXPERIMENT.key(experiment_id=experiment_id).pk

    def like(self, comparator: str, pattern: str) -> set[str] | None:
        """Ids of runs whose names may match, None if the pattern selects too little."""
        starts = [_start(TRIGRAM, part) for part in _spread(required_trigrams(comparator, pattern))]
        starts = starts or [_start(WORD, part) for part in _spread(required_words(pattern))]
        return _select_rows(starts, _start(*MANY), self.rows_with)

    def rows_with(self, start: str) -> set[str] | None:
        """Ids of runs with a row whose key has this start, None if there are too many."""
        items = self._database.query_prefix(self._pk, start, limit=_MOST_ROWS + 1)
        parsed = (keys.FTS.sk.parse(item[SORT_KEY]) or {} for item in items)
        return _at_most(
            fields["entity_id"] for fields in parsed if fields["entity_type"] == RUN_TYPE
        )


def _start(level: str, token: str) -> str:
    """Return the prefix of the sort keys of a trigram, or of all words with this start."""
    start = keys.FTS.prefix(level=level, token=token)
    return start.removesuffix("#") if level == WORD else start


def _select_rows(
    required: Sequence[str], many: str, holding: Callable[[str], set[str] | None]
) -> set[str] | None:
    """Return the ids with all required tokens, and those with too many tokens to have rows.

    None if there are too many of them to be a useful selection.
    """
    candidates: set[str] | None = None
    for token in required:
        rows = holding(token)
        if rows is not None:
            candidates = rows if candidates is None else candidates & rows
            if len(candidates) <= _FEW:
                break
    others = None if candidates is None else holding(many)
    if candidates is None or others is None or len(candidates | others) > _MOST_ROWS:
        return None
    return candidates | others


def _at_most(ids: Iterable[str]) -> set[str] | None:
    rows = list(islice(ids, _MOST_ROWS + 1))
    return None if len(rows) > _MOST_ROWS else set(rows)


def _spread(trigrams: list[str]) -> list[str]:
    """The last, the first and one between: they overlap least, and names differ at their ends."""
    middle = len(trigrams) // 2
    return list(dict.fromkeys([*trigrams[-1:], *trigrams[:1], *trigrams[middle : middle + 1]]))
