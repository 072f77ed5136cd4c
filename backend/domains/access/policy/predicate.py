"""Rules as a predicate on single objects, evaluated in microseconds with hundreds of rules.

Blocks are kept in a tree: each node looks the object up by one criterion of each block, in tables
if the operator allows it, and the remaining criteria are below. So only blocks that may apply are
evaluated. Alternatives (`any_of`) come after all other criteria of their block.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from backend.domains.access.policy.model import (
    ALLOW,
    ANYTHING,
    CONTAINS,
    DENY,
    DOES_NOT_CONTAIN,
    ENDS_WITH,
    EQUALS,
    EVERYTHING,
    FIELDS_OF,
    IS_ONE_OF,
    IS_PRESENT,
    NEGATIONS,
    OBJECT_TYPE_FIELD,
    STARTS_WITH,
    STRICT_TYPES,
    Block,
    Criteria,
    Criterion,
    Fields,
    Rule,
)
from backend.spec.routes.model import Action

# The cheapest criterion of a rule decides first whether the others are evaluated at all.
_SPEED = {EQUALS: 0, IS_ONE_OF: 1, STARTS_WITH: 2, ENDS_WITH: 3, CONTAINS: 4}
# Of operators without an entry in `_SPEED`.
_SLOWEST = 5


class Predicate:
    """Decides whether rules allow an action on an object. Without a matching rule, it is denied.

    A rule that denies overrides all that allow.
    """

    __slots__ = ("_allowed", "_denied")

    def __init__(self, rules: Iterable[Rule]) -> None:
        known = tuple(rules)
        self._allowed = _nodes(known, ALLOW)
        self._denied = _nodes(known, DENY)

    def __call__(self, action: Action, object_type: str, fields: Fields) -> bool:
        key = (object_type, action)
        allowed = self._allowed.get(key)
        # Allowing rules first: most objects match none, and then denials need no evaluation.
        if allowed is None or not allowed.holds(fields):
            return False
        return not self.denies(action, object_type, fields)

    def denies(self, action: Action, object_type: str, fields: Fields) -> bool:
        """Return whether a rule denies the action, whatever others allow."""
        denied = self._denied.get((object_type, action))
        return denied is not None and denied.holds(fields)


def applies(rule: Rule, action: Action, object_type: str, fields: Fields) -> bool:
    """Return whether a rule allows, or denies, the action on the object."""
    effect = rule.effects.get(action)
    blocks = [] if effect is None else blocks_for((rule,), action, object_type, effect)
    return bool(blocks) and _Node(blocks).holds(fields)


def blocks_for(rules: Iterable[Rule], action: str, object_type: str, effect: str) -> list[Block]:
    """Return the blocks for such objects, without the criteria that are always true.

    An empty block matches all of them. Alternatives remain only beside other criteria.
    """
    blocks: dict[Block, None] = {}
    for rule in rules:
        if rule.object_type == object_type and rule.effects.get(action) == effect:
            for block in rule.blocks(effect):
                for kept in _without_constants(block, object_type, effect):
                    blocks[kept] = None
    return list(blocks)


def _without_constants(block: Block, object_type: str, effect: str) -> list[Block]:
    """Return equivalent blocks without criteria that match all, or no, objects of the type."""
    all_of = _without_constant_criteria(block.all_of, object_type, effect)
    if all_of is None:
        return []
    if not block.any_of:
        return [Block(all_of)]
    varying = (
        _without_constant_criteria((criterion,), object_type, effect) for criterion in block.any_of
    )
    alternatives = [alternative for alternative in varying if alternative is not None]
    if () in alternatives:
        return [Block(all_of)]
    if not all_of or len(alternatives) <= 1:
        return [
            Block(tuple(dict.fromkeys((*all_of, *alternative)))) for alternative in alternatives
        ]
    if all(len(alternative) == 1 for alternative in alternatives):
        return [Block(all_of, tuple(dict.fromkeys(criterion for (criterion,) in alternatives)))]
    # Only strict types have alternatives of two criteria, and no search filter.
    return [Block((*all_of, *alternative)) for alternative in alternatives]


def _without_constant_criteria(
    criteria: Criteria, object_type: str, effect: str
) -> Criteria | None:
    """Return the criteria without those that always match. None if one never does."""
    # Types that determine permissions: an absent value must not match a negation (decision 30).
    strict = effect == ALLOW and object_type in STRICT_TYPES
    kept: dict[Criterion, None] = {}
    for criterion in criteria:
        if criterion.field not in (*FIELDS_OF[object_type], OBJECT_TYPE_FIELD):
            # On a field that its type lacks: never more is granted (decision 30).
            holds = effect == DENY
        elif criterion.values == (ANYTHING,) and criterion.operator in (CONTAINS, DOES_NOT_CONTAIN):
            holds = criterion.operator == CONTAINS
        elif criterion.field == OBJECT_TYPE_FIELD:
            holds = _Node([Block((criterion,))]).holds({OBJECT_TYPE_FIELD: object_type})
        else:
            kept[criterion] = None
            if strict and criterion.operator in NEGATIONS:
                kept[Criterion(criterion.field, IS_PRESENT, ("",))] = None
            continue
        if not holds:
            return None
    return tuple(kept)


def _nodes(rules: Sequence[Rule], effect: str) -> Mapping[tuple[str, str], "_Node"]:
    keys = {
        (rule.object_type, action)
        for rule in rules
        for action, decided in rule.effects.items()
        if decided == effect
    }
    nodes: dict[tuple[str, str], _Node] = {}
    for object_type, action in keys:
        blocks = blocks_for(rules, action, object_type, effect)
        if blocks:
            nodes[object_type, action] = _Node(blocks)
    return nodes


class _Node:
    """Blocks, by the criterion of each that is fastest to look up."""

    __slots__ = ("_always", "_indexes")

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._always = EVERYTHING in blocks
        self._indexes: list[tuple[str, _Index]] = []
        if self._always:
            return
        by_field: dict[str, list[tuple[Criterion, Block]]] = defaultdict(list)
        for block in blocks:
            if not block.all_of:
                for criterion in block.any_of:
                    by_field[criterion.field].append((criterion, EVERYTHING))
                continue
            first = min(
                block.all_of, key=lambda criterion: _SPEED.get(criterion.operator, _SLOWEST)
            )
            rest = tuple(criterion for criterion in block.all_of if criterion is not first)
            by_field[first.field].append((first, Block(rest, block.any_of)))
        self._indexes = [(field, _Index(entries)) for field, entries in by_field.items()]

    def holds(self, fields: Fields) -> bool:
        """Return whether some block matches."""
        if self._always:
            return True
        for field, index in self._indexes:
            value = fields.get(field, ())
            if index.holds((value,) if isinstance(value, str) else value, fields):
                return True
        return False


class _Index:
    """Blocks by a criterion on one field each; the remaining criteria are below."""

    __slots__ = (
        "_absent_parts", "_absent_texts", "_ends", "_exact", "_parts", "_present", "_starts",
    )  # fmt: skip

    def __init__(self, entries: Iterable[tuple[Criterion, Block]]) -> None:
        rests: dict[tuple[str, str | frozenset[str]], dict[Block, None]] = defaultdict(dict)
        for criterion, rest in entries:
            for operator, value in _keys(criterion):
                rests[operator, value][rest] = None
        nodes: dict[tuple[Block, ...], _Node] = {}
        self._exact: dict[str, _Node] = {}
        self._starts: dict[int, dict[str, _Node]] = defaultdict(dict)
        self._ends: dict[int, dict[str, _Node]] = defaultdict(dict)
        self._parts: list[tuple[str, _Node]] = []
        self._present: _Node | None = None
        self._absent_parts: list[tuple[str, _Node]] = []
        self._absent_texts: list[tuple[frozenset[str], _Node]] = []
        for (operator, value), rest_blocks in rests.items():
            blocks = tuple(rest_blocks)
            # Values with equal rests share a node, or hundreds of rules would take hundreds of
            # them.
            node = nodes.get(blocks)
            if node is None:
                node = nodes[blocks] = _Node(blocks)
            self._add(operator, value, node)

    def _add(self, operator: str, value: str | frozenset[str], node: _Node) -> None:
        if isinstance(value, frozenset):
            self._absent_texts.append((value, node))
        elif operator == EQUALS:
            self._exact[value] = node
        elif operator == STARTS_WITH:
            # By length: one look-up for each length, however many values there are.
            self._starts[len(value)][value] = node
        elif operator == ENDS_WITH:
            self._ends[len(value)][value] = node
        elif operator == CONTAINS:
            self._parts.append((value, node))
        elif operator == IS_PRESENT:
            self._present = node
        else:
            self._absent_parts.append((value, node))

    def holds(self, texts: tuple[str, ...], fields: Fields) -> bool:
        """Return whether a criterion on these texts matches together with the remaining ones."""
        for text in texts:
            if self._finds(text, fields):
                return True
        if self._present is not None and any(texts) and self._present.holds(fields):
            return True
        for part, node in self._absent_parts:
            if not any(part in text for text in texts) and node.holds(fields):
                return True
        for values, node in self._absent_texts:
            if values.isdisjoint(texts) and node.holds(fields):
                return True
        return False

    def _finds(self, text: str, fields: Fields) -> bool:
        node = self._exact.get(text)
        if node is not None and node.holds(fields):
            return True
        for length, table in self._starts.items():
            node = table.get(text[:length])
            if node is not None and node.holds(fields):
                return True
        for length, table in self._ends.items():
            node = table.get(text[-length:])
            if node is not None and node.holds(fields):
                return True
        return any(part in text and below.holds(fields) for part, below in self._parts)


def _keys(criterion: Criterion) -> Iterable[tuple[str, str | frozenset[str]]]:
    """Return the lookup keys of a criterion.

    The values that it accepts, or those that it excludes.
    """
    if criterion.operator in (EQUALS, IS_ONE_OF):
        return [(EQUALS, value) for value in criterion.values]
    if criterion.operator in (STARTS_WITH, ENDS_WITH, CONTAINS, DOES_NOT_CONTAIN, IS_PRESENT):
        return [(criterion.operator, criterion.values[0])]
    return [(criterion.operator, frozenset(criterion.values))]
