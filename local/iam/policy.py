"""Evaluates IAM policies: an explicit deny, an allow, or neither, which is a refusal.

Only identity policies are supported: roles have no Principal in them. Unsupported elements
(operators, policy variables) are errors when the policies are read, and never ignored. This module
uses only the standard library, because it runs in the functions' processes too.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast

_SEGMENTS = 6  # of an ARN; colons in the last one are its own
_ELEMENTS = frozenset(
    {"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"}
)
# Decisions by action and resource; the key of an object is part of the resource, so there is no end
# of them. A cached one takes microseconds (decision 16).
_REMEMBERED = 4096

Json = Mapping[str, object]


class PolicyError(Exception):
    """A policy contains an unsupported element; the message names it."""


class Grant(NamedTuple):
    """One action pattern on one resource pattern, as a policy allows it."""

    action: str
    resource: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one action on one resource, and the grants that allow it."""

    allowed: bool
    denied: bool = False
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True, slots=True)
class _Pattern:
    text: str
    matches: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Statement:
    allows: bool
    actions: tuple[_Pattern, ...]
    but_actions: bool
    resources: tuple[_Pattern, ...]
    but_resources: bool
    conditions: tuple[tuple[str, tuple[_Pattern, ...]], ...]

    def grants(self, action: str, resource: str, context: Mapping[str, str]) -> Iterator[Grant]:
        """Return the pairs of patterns by which the statement applies.

        An empty list if it does not.
        """
        for key, wanted in self.conditions:
            value = context.get(key)
            if value is None or not any(pattern.matches(value) for pattern in wanted):
                return
        for on_action in _applying(self.actions, action.lower(), but=self.but_actions):
            for on_resource in _applying(self.resources, resource, but=self.but_resources):
                yield Grant(on_action, on_resource)

    def all_grants(self) -> Iterator[Grant]:
        for action in _named(self.actions, but=self.but_actions):
            for resource in _named(self.resources, but=self.but_resources):
                yield Grant(action, resource)


class Policies:
    """All policies of one role together."""

    def __init__(self, statements: Iterable[Json]) -> None:
        """Read the statements.

        Raises:
            PolicyError: a statement is malformed or unsupported.
        """
        self._statements = tuple(_statement(statement) for statement in statements)
        self._decided = lru_cache(maxsize=_REMEMBERED)(self._decide)

    def decide(
        self, action: str, resource: str, context: Mapping[str, str] | None = None
    ) -> Decision:
        """Decide whether the action is allowed on the resource (an ARN) in this context."""
        return self._decided(action, resource, tuple(sorted((context or {}).items())))

    def _decide(self, action: str, resource: str, context: tuple[tuple[str, str], ...]) -> Decision:
        known = dict(context)
        grants: list[Grant] = []
        for statement in self._statements:
            statement_grants = tuple(statement.grants(action, resource, known))
            if statement_grants and not statement.allows:
                return Decision(allowed=False, denied=True)
            grants.extend(statement_grants)
        return Decision(allowed=bool(grants), grants=tuple(grants))

    def grants(self) -> frozenset[Grant]:
        """Return every pair of patterns that a statement allows."""
        return frozenset(
            grant
            for statement in self._statements
            if statement.allows
            for grant in statement.all_grants()
        )


def _statement(document: Json) -> _Statement:
    unknown = set(document) - _ELEMENTS
    if unknown:
        raise PolicyError(f"the element {min(unknown)} of a statement is not known")
    effect = document.get("Effect")
    if effect not in {"Allow", "Deny"}:
        raise PolicyError(f"Effect is {effect!r}, neither Allow nor Deny")
    actions, but_actions = _element(document, "Action")
    resources, but_resources = _element(document, "Resource")
    return _Statement(
        allows=effect == "Allow",
        actions=tuple(_Pattern(text, _glob(text.lower())) for text in actions),
        but_actions=but_actions,
        resources=tuple(_Pattern(text, _arn(text)) for text in resources),
        but_resources=but_resources,
        conditions=tuple(_conditions(document.get("Condition", {}))),
    )


def _element(document: Json, name: str) -> tuple[Sequence[str], bool]:
    """Return the texts of `name`, or of its negation; a statement has exactly one of them."""
    if (name in document) == (f"Not{name}" in document):
        raise PolicyError(f"a statement needs {name} or Not{name}, and not both")
    negated = name not in document
    texts = _texts(document[f"Not{name}" if negated else name])
    if not texts:
        raise PolicyError(f"{name} is empty")
    return texts, negated


def _texts(value: object) -> list[str]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    for text in values:
        if not isinstance(text, str):
            raise PolicyError(f"{text!r} is no text")
        if "${" in text:
            raise PolicyError(f"the policy variable in {text} is not known")
    return cast("list[str]", values)


def _conditions(condition: object) -> Iterator[tuple[str, tuple[_Pattern, ...]]]:
    if not isinstance(condition, Mapping):
        raise PolicyError(f"Condition is {condition!r}, no object")
    for operator, keys in cast("Mapping[str, object]", condition).items():
        if operator not in _OPERATORS or not isinstance(keys, Mapping):
            raise PolicyError(f"the condition operator {operator} is not known")
        for key, values in cast("Mapping[str, object]", keys).items():
            patterns = (_Pattern(text, _OPERATORS[operator](text)) for text in _texts(values))
            yield key, tuple(patterns)


def _applying(patterns: Sequence[_Pattern], value: str, *, but: bool) -> Sequence[str]:
    hits = [pattern.text for pattern in patterns if pattern.matches(value)]
    if not but:
        return hits
    return [] if hits else _named(patterns, but=True)


def _named(patterns: Sequence[_Pattern], *, but: bool) -> Sequence[str]:
    """Return the names of patterns in a grant: each by its text, excluded ones together."""
    texts = [pattern.text for pattern in patterns]
    return [f"all but {', '.join(texts)}"] if but else texts


def _glob(text: str) -> Callable[[str], bool]:
    if text == "*":
        return lambda _: True
    if "*" not in text and "?" not in text:
        return text.__eq__
    parts = (".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text)
    matches = re.compile("".join(parts), re.DOTALL).fullmatch
    return lambda value: matches(value) is not None


def _arn(text: str) -> Callable[[str], bool]:
    """Match segment by segment: a wildcard does not match colons, except in the last segment."""
    if text == "*":
        return lambda _: True
    segments = text.split(":", _SEGMENTS - 1)
    if len(segments) != _SEGMENTS or segments[0] != "arn":
        raise PolicyError(f"the resource {text} is no ARN")
    wanted = [_glob(segment) for segment in segments]

    def matches(value: str) -> bool:
        segments = value.split(":", _SEGMENTS - 1)
        return len(segments) == _SEGMENTS and all(
            pattern(segment) for pattern, segment in zip(wanted, segments, strict=True)
        )

    return matches


_OPERATORS: Mapping[str, Callable[[str], Callable[[str], bool]]] = {
    "StringEquals": lambda text: text.__eq__,
    "StringLike": _glob,
}
"""The condition operators that the templates' roles use. They are false if the request lacks the
condition key."""
