"""Reduces blocks to fewer equivalent ones, because each costs a clause of the search filter. Pure.

Removed are redundant parts: blocks within other blocks, blocks that are denied completely, denials
of what no rule allows, and criteria implied by others of their block. Blocks that differ in the
values of one criterion are merged.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from backend.domains.access.policy.model import (
    CONTAINS,
    DOES_NOT_CONTAIN,
    EQUALS,
    FIELDS_OF,
    IS_NOT_ONE_OF,
    IS_ONE_OF,
    LIST_FIELDS,
    NEGATIONS,
    STARTS_WITH,
    Block,
    Criteria,
    Criterion,
)

_FIELDS = FIELDS_OF["asset"]
# Fields with at most one text, so that two demands on one of them concern the same text.
_PLAIN = frozenset(_FIELDS) - LIST_FIELDS
# Other blocks that each block is compared with. Comparing hundreds of similar blocks with each
# other would take seconds.
_NEAR = 100


def reduced(allowed: Iterable[Block], denied: Iterable[Block]) -> tuple[list[Block], list[Block]]:
    """Return blocks on assets that are equivalent to these; those of denials have no alternatives.

    Every criterion for exact values becomes `is_one_of`. The same permissions result in the same
    order, regardless of the order of their rules.
    """
    refusing = _outermost(block.all_of for block in denied)
    held = _Cover(refusing)
    plain: list[Criteria] = []
    several: list[Block] = []
    for block in filter(None, map(_with_fewer_alternatives, allowed)):
        if block.any_of:
            several.append(block)
        else:
            plain.append(block.all_of)
    # What is denied completely needs no clause.
    granting = [
        criteria for criteria in _outermost(plain) if next(held.over(criteria), None) is None
    ]
    covers = (held, _Cover(granting))
    several = [
        block
        for block in sorted(set(several))
        if all(next(cover.over(block.all_of), None) is None for cover in covers)
    ]
    met = _outermost(_met(refusing, [*granting, *(block.all_of for block in several)]))
    return (
        [*(Block(criteria) for criteria in _merge(granting)), *several],
        [Block(criteria) for criteria in _merge(met)],
    )


def _with_fewer_alternatives(block: Block) -> Block | None:
    """Return the block in its simplest form; None if it never matches."""
    all_of = _plain(block.all_of)
    if all_of is None or not block.any_of:
        return None if all_of is None else Block(all_of)
    possible = [
        (criterion,) for criterion in block.any_of if _plain((*all_of, criterion)) is not None
    ]
    merged = _merge(_outermost(possible))
    # An alternative that the other criteria imply is always true.
    if any(_is_within(all_of, alternative) for alternative in merged):
        return Block(all_of)
    if len(merged) > 1:
        return Block(all_of, tuple(criterion for (criterion,) in merged))
    both = _plain((*all_of, *merged[0])) if merged else None
    return None if both is None else Block(both)


def _outermost(blocks: Iterable[Criteria]) -> list[Criteria]:
    """Return the blocks that are not within another one, in their simplest form."""
    plain = sorted({block for block in map(_plain, blocks) if block is not None})
    cover = _Cover(plain)
    return [block for block in plain if all(other == block for other in cover.over(block))]


class _Cover:
    """Lists of criteria, found by the values of their criteria."""

    def __init__(self, blocks: Iterable[Criteria]) -> None:
        self._by_value: dict[tuple[str, str], list[Criteria]] = defaultdict(list)
        self._others: list[Criteria] = []
        for block in blocks:
            exact = next(_exact(block), None)
            if exact is None:
                self._others.append(block)
                continue
            for value in exact.values:
                self._by_value[exact.field, value].append(block)

    def over(self, block: Criteria) -> Iterator[Criteria]:
        """Return blocks that match wherever this block does, including itself.

        Not necessarily all.
        """
        near = islice(self._near(block), _NEAR)
        return (other for other in near if _is_within(block, other))

    def _near(self, block: Criteria) -> Iterator[Criteria]:
        yield from self._others
        for exact in _exact(block):
            yield from self._by_value.get((exact.field, exact.values[0]), ())


def _exact(block: Criteria) -> Iterator[Criterion]:
    return (criterion for criterion in block if criterion.operator == IS_ONE_OF)


def _is_within(block: Criteria, other: Criteria) -> bool:
    return all(any(_follows(wanted, known) for known in block) for wanted in other)


def _plain(block: Criteria) -> Criteria | None:
    """Return the block without criteria that others imply; None if it never matches."""
    criteria: list[Criterion] = []
    for field in sorted({criterion.field for criterion in block}, key=_FIELDS.index):
        here = {
            criterion._replace(
                operator=IS_ONE_OF if criterion.operator == EQUALS else criterion.operator,
                values=tuple(sorted(set(criterion.values))),
            )
            for criterion in block
            if criterion.field == field
        }
        exact = next(_exact(tuple(sorted(here))), None)
        # With one text, all criteria on the field concern it: the possible values can be listed.
        if exact is not None and field in _PLAIN:
            values = tuple(
                v for v in exact.values if all(_holds(criterion, v) for criterion in here)
            )
            if not values:
                return None
            here = {exact._replace(values=values)}
        criteria += sorted(
            criterion
            for criterion in here
            if not any(other != criterion and _follows(criterion, other) for other in here)
        )
    return tuple(criteria)


def _holds(criterion: Criterion, text: str) -> bool:
    """Return whether the criterion matches this text."""
    value, operator = criterion.values[0], criterion.operator
    if operator in (IS_ONE_OF, IS_NOT_ONE_OF):
        return (text in criterion.values) == (operator == IS_ONE_OF)
    if operator in (CONTAINS, DOES_NOT_CONTAIN):
        return (value in text) == (operator == CONTAINS)
    return text.startswith(value) if operator == STARTS_WITH else text.endswith(value)


def _follows(wanted: Criterion, known: Criterion) -> bool:
    """Return whether one criterion matches whenever the other does."""
    if wanted.field != known.field:
        return False
    if wanted == known:
        return True
    if known.operator == IS_ONE_OF:
        return _follows_exact(wanted, known)
    if known.operator in NEGATIONS:
        return wanted.operator in NEGATIONS and _refuses_less(wanted, known)
    # A beginning or end is also a part.
    return wanted.operator in (CONTAINS, known.operator) and _holds(wanted, known.values[0])


def _follows_exact(wanted: Criterion, known: Criterion) -> bool:
    if wanted.operator == IS_ONE_OF:
        return set(wanted.values).issuperset(known.values)
    if wanted.operator in NEGATIONS and wanted.field not in _PLAIN:
        return False  # only one element of a list is known
    return all(_holds(wanted, value) for value in known.values)


def _refuses_less(wanted: Criterion, known: Criterion) -> bool:
    """Return whether all values that one negation excludes are excluded by the other."""
    if known.operator == IS_NOT_ONE_OF:
        is_list = wanted.operator == IS_NOT_ONE_OF
        return is_list and set(known.values).issuperset(wanted.values)
    return all(known.values[0] in value for value in wanted.values)


def _met(refusing: Iterable[Criteria], granting: Iterable[Criteria]) -> Iterator[Criteria]:
    """Return the denials without values that no grant has, and without empty denials."""
    left = list(refusing)
    for field in _PLAIN:
        granted = [next((e for e in _exact(block) if e.field == field), None) for block in granting]
        # A grant without exact values of this field may have any of them.
        if not all(granted):
            continue
        values = {
            value for criterion in granted if criterion is not None for value in criterion.values
        }
        left = [
            block for criteria in left if (block := _among(criteria, field, values)) is not None
        ]
    yield from left


def _among(block: Criteria, field: str, values: set[str]) -> Criteria | None:
    criteria: list[Criterion] = []
    for criterion in block:
        kept = criterion.values
        if criterion.field == field and criterion.operator == IS_ONE_OF:
            kept = tuple(value for value in criterion.values if value in values)
        if not kept:
            return None
        criteria.append(criterion._replace(values=kept))
    return tuple(criteria)


def _rank(criterion: Criterion) -> tuple[int, Criterion]:
    return _FIELDS.index(criterion.field), criterion


def _merge(blocks: Iterable[Criteria]) -> list[Criteria]:
    """Return the blocks, merged if they differ only in the values of their criteria."""
    left = list(blocks)
    for field in _FIELDS:
        others: list[Criteria] = []
        by_rest: dict[Criteria, set[str]] = defaultdict(set)
        for block in left:
            exact = next(
                (criterion for criterion in _exact(block) if criterion.field == field), None
            )
            if exact is None:
                others.append(block)
                continue
            by_rest[tuple(criterion for criterion in block if criterion is not exact)].update(
                exact.values
            )
        for rest, values in by_rest.items():
            demand = Criterion(field, IS_ONE_OF, tuple(sorted(values)))
            others.append(tuple(sorted((demand, *rest), key=_rank)))
        left = others
    return sorted(left)
