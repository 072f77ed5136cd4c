"""Rules as a search filter, equivalent to the predicate on objects.

Documents of assets and files have the same fields for it: those of the asset that a file belongs
to. So one filter serves both indexes, and is part of the query itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from backend.core.errors import TooLargeError
from backend.domains.access.policy.model import (
    ALLOW,
    CONTAINS,
    DENY,
    DOES_NOT_CONTAIN,
    ENDS_WITH,
    IS_NOT_ONE_OF,
    IS_ONE_OF,
    NEGATIONS,
    STARTS_WITH,
    Block,
    Criterion,
    Rule,
)
from backend.domains.access.policy.predicate import blocks_for
from backend.domains.access.policy.reduction import reduced
from backend.spec.analysis import STRETCH_CHARS, STRETCH_END, STRETCH_STAND_IN
from backend.spec.search_indexes import (
    CUT,
    CUT_INTO,
    RULED_FIELDS,
    STRETCHES_OF,
    WITHHELD,
)

Filter = dict[str, Any]

# Clauses of one filter, of the 4,096 of a query: 100 words in each searched field need the rest
# (`spec.search_indexes.MAX_CLAUSES`).
MAX_CLAUSES = 900

# Number of values up to which each gets its own clause. OpenSearch does not cache single-value
# clauses, and caches fewer filters the more there are (decision 31).
_ONE_BY_ONE = 16

# Matches an index with stretches. In an index without them no denial by a part of a text would
# hold. OpenSearch evaluates it from the mapping; a condition on each document took as long as half
# of the rules.
_CUT: Filter = {"term": {CUT_INTO: CUT}}

_WITHHELD: Filter = {"term": {WITHHELD: True}}
EVERYTHING: Filter = {"bool": {"must_not": [_WITHHELD]}}
"""The filter for users who may see everything."""


def search_filter(rules: Iterable[Rule]) -> Filter | None:
    """Return the filter for documents of assets and files that rules allow; None if there are none.

    Raises:
        TooLargeError: the rules have more conditions than a search may have.
    """
    known = tuple(rules)
    allowed, denied = reduced(
        blocks_for(known, "GET", "asset", ALLOW), blocks_for(known, "GET", "asset", DENY)
    )
    if not allowed:
        return None
    # Single-value clauses are faster; if they are too many, values share one.
    for most in (_ONE_BY_ONE, 1):
        granting = [] if Block(()) in allowed else _alternatives(allowed, most)
        refusing = _alternatives(denied, most)
        if _count(granting) + _count(refusing) <= MAX_CLAUSES:
            return _visible(granting, refusing)
    raise TooLargeError(
        f"Your permissions result in more than {MAX_CLAUSES} search conditions, which is "
        "too many: ask an administrator to simplify your constraints"
    )


def _visible(granting: list[Filter], refusing: list[Filter]) -> Filter:
    """Combine allow and deny queries into one, whose result OpenSearch can cache as a whole."""
    if not granting and not refusing:
        return EVERYTHING
    unseen = [_WITHHELD, *([_any(refusing)] if refusing else ())]
    if not granting:
        return {"bool": {"filter": [_CUT], "must_not": unseen}}
    return {"bool": {"filter": [_CUT, {"bool": {**_one_of(granting), "must_not": unseen}}]}}


def _alternatives(blocks: Iterable[Block], most: int) -> list[Filter]:
    """Return alternative queries; blocks with the same values share one query for them.

    At most `most` values of one criterion become separate queries.
    """
    sharing: dict[Criterion, list[Block]] = defaultdict(list)
    filters: list[Filter] = []
    for block in blocks:
        exact = next(
            (criterion for criterion in block.all_of if criterion.operator == IS_ONE_OF), None
        )
        if exact is None:
            filters += _block(block, most)
        else:
            rest = tuple(criterion for criterion in block.all_of if criterion is not exact)
            sharing[exact].append(Block(rest, block.any_of))
    for exact, rests in sharing.items():
        if len(rests) == 1:
            filters += _block(Block((exact, *rests[0].all_of), rests[0].any_of), most)
        else:
            beside = _one_of(_alternatives(rests, most))
            filters.append({"bool": {"filter": [_positive(exact)], **beside}})
    return filters


def _block(block: Block, most: int) -> list[Filter]:
    """Return alternative queries for criteria that must all match; several for one criterion."""
    if not block.all_of:
        singles = _alternatives([Block((criterion,)) for criterion in block.any_of], most)
        return singles or [{"match_all": {}}]
    wanted: list[Filter] = []
    unwanted: list[Filter] = []
    # One `bool` beside the criteria: multiplied out, alternatives could exceed the clause limit.
    one_of = _block(Block((), block.any_of), most) if block.any_of else []
    for criterion in block.all_of:
        parts = _parts(criterion, most)
        if criterion.operator in NEGATIONS:
            unwanted += parts
        elif len(parts) > 1 and not one_of:
            one_of = parts
        else:
            wanted.append(_positive(criterion))
    if not unwanted and not (wanted and one_of) and len(wanted) <= 1:
        return wanted or one_of
    query: Filter = _one_of(one_of) if one_of else {}
    if wanted:
        query["filter"] = wanted
    if unwanted:
        query["must_not"] = unwanted
    return [{"bool": query}]


def _parts(criterion: Criterion, most: int) -> list[Filter]:
    """Return queries, one of which matches if the criterion does, or if its negation does not."""
    if criterion.operator in (IS_ONE_OF, IS_NOT_ONE_OF) and len(criterion.values) <= most:
        field = RULED_FIELDS[criterion.field]
        return [{"term": {field: value}} for value in criterion.values]
    return [_positive(criterion)]


def _positive(criterion: Criterion) -> Filter:
    """Return the query of a criterion; for a negation, the query that must not match."""
    field, value = RULED_FIELDS[criterion.field], criterion.values[0]
    if criterion.operator == STARTS_WITH:
        return {"prefix": {field: value}}
    if criterion.operator in (CONTAINS, DOES_NOT_CONTAIN, ENDS_WITH):
        return _within(criterion.field, value, at_end=criterion.operator == ENDS_WITH)
    if len(criterion.values) == 1:
        return {"term": {field: value}}
    return {"terms": {field: list(criterion.values)}}


def _within(name: str, value: str, *, at_end: bool) -> Filter:
    """Return the query for a part of a text, or of its end."""
    # A pattern costs OpenSearch half a millisecond before it reads anything, so it is only used for
    # values that do not fit a term, or contain its padding (decision 31).
    if len(value) >= STRETCH_CHARS or STRETCH_END in value or STRETCH_STAND_IN in value:
        pattern = f"*{_literal(value)}" if at_end else f"*{_literal(value)}*"
        return {"wildcard": {RULED_FIELDS[name]: pattern}}
    if at_end:
        return {"term": {STRETCHES_OF[name]: value.ljust(STRETCH_CHARS, STRETCH_END)}}
    return {"prefix": {STRETCHES_OF[name]: value}}


def _literal(value: str) -> str:
    """Return the value with the special characters of patterns escaped."""
    return value.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")


def _any(alternatives: list[Filter]) -> Filter:
    return alternatives[0] if len(alternatives) == 1 else {"bool": _one_of(alternatives)}


def _one_of(alternatives: list[Filter]) -> Filter:
    return {"should": alternatives, "minimum_should_match": 1}


def _count(queries: Iterable[Mapping[str, Any]]) -> int:
    total = 0
    for query in queries:
        clauses: Mapping[str, Any] | None = query.get("bool")
        parts = () if clauses is None else (part for part in clauses.values() if part != 1)
        total += 1 if clauses is None else sum(_count(part) for part in parts)
    return total
