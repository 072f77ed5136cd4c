"""Rules as a filter of a search: it says of documents what the predicate says of objects.

Documents of assets and files carry the same fields for it: those of the asset that a file belongs
to. So one filter serves both indexes, and goes into the query itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.core.errors import TooLargeError
from backend.domains.access.policy.model import (
    ALLOW,
    CONTAINS,
    DENY,
    DOES_NOT_CONTAIN,
    ENDS_WITH,
    IS_ONE_OF,
    NEGATIONS,
    STARTS_WITH,
    Criterion,
    Rule,
)
from backend.domains.access.policy.predicate import Block, blocks_for
from backend.domains.access.policy.reduction import reduced
from backend.spec.search_indexes import RULED_FIELDS, WITHHELD

Filter = dict[str, Any]

MAX_CLAUSES = 900
"""Conditions of one filter: OpenSearch takes 1,024 in a query, and the search itself has some."""

_WITHHELD: Filter = {"term": {WITHHELD: True}}
EVERYTHING: Filter = {"bool": {"must_not": [_WITHHELD]}}
"""The filter of those who may see everything."""


def search_filter(rules: Iterable[Rule]) -> Filter | None:
    """The documents of assets, and of their files, that rules allow to see; None if there are none.

    Raises:
        TooLargeError: the rules hold more conditions than a search may have.
    """
    known = tuple(rules)
    allowed, denied = reduced(
        blocks_for(known, "GET", "asset", ALLOW), blocks_for(known, "GET", "asset", DENY)
    )
    if not allowed:
        return None
    granting = [] if () in allowed else _alternatives(allowed)
    refusing = _alternatives(denied)
    if _count(granting) + _count(refusing) > MAX_CLAUSES:
        raise TooLargeError(
            f"Your permissions come to more than {MAX_CLAUSES} conditions, too many for a search"
        )
    query: Filter = {"must_not": [_WITHHELD, *([_any(refusing)] if refusing else ())]}
    if granting:
        query["filter"] = [_any(granting)]
    return {"bool": query}


def _alternatives(blocks: Iterable[Block]) -> list[Filter]:
    """The queries of which one must hold; blocks that demand the same values ask for them once."""
    sharing: dict[Criterion, list[Block]] = defaultdict(list)
    others: list[Filter] = []
    for block in blocks:
        exact = next((each for each in block if each.operator == IS_ONE_OF), None)
        if exact is None:
            others.append(_block(block))
        else:
            sharing[exact].append(tuple(each for each in block if each is not exact))
    return [*(_sharing(exact, rests) for exact, rests in sharing.items()), *others]


def _sharing(exact: Criterion, rests: Sequence[Block]) -> Filter:
    """The query of a demand and, beside it, of one of these blocks."""
    if len(rests) == 1:
        return _block((exact, *rests[0]))
    return {"bool": {"must": [_positive(exact), _any(_alternatives(rests))]}}


def _block(block: Block) -> Filter:
    """The query of criteria that must all hold."""
    wanted: list[Filter] = []
    unwanted: list[Filter] = []
    for criterion in block:
        part = _positive(criterion)
        (unwanted if criterion.operator in NEGATIONS else wanted).append(part)
    if not unwanted and len(wanted) == 1:
        return wanted[0]
    query: Filter = {}
    if wanted:
        query["must"] = wanted
    if unwanted:
        query["must_not"] = unwanted
    return {"bool": query}


def _positive(criterion: Criterion) -> Filter:
    """The query of a criterion; that of a negation is the one which must not hold."""
    field, value = RULED_FIELDS[criterion.field], criterion.values[0]
    if criterion.operator == STARTS_WITH:
        return {"prefix": {field: {"value": value}}}
    if criterion.operator in (CONTAINS, DOES_NOT_CONTAIN):
        return {"wildcard": {field: {"value": f"*{_literal(value)}*"}}}
    if criterion.operator == ENDS_WITH:
        return {"wildcard": {field: {"value": f"*{_literal(value)}"}}}
    if len(criterion.values) == 1:
        return {"term": {field: value}}
    return {"terms": {field: list(criterion.values)}}


def _literal(value: str) -> str:
    """The value, with what stands for something else in a pattern escaped."""
    return value.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")


def _any(alternatives: list[Filter]) -> Filter:
    if len(alternatives) == 1:
        return alternatives[0]
    return {"bool": {"should": alternatives, "minimum_should_match": 1}}


def _count(queries: Iterable[Mapping[str, Any]]) -> int:
    total = 0
    for query in queries:
        found: Mapping[str, Any] | None = query.get("bool")
        parts = () if found is None else (part for part in found.values() if part != 1)
        total += 1 if found is None else sum(_count(part) for part in parts)
    return total
