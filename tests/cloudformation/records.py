"""The records of stacks: resources, outputs, events and change sets."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tests.cloudformation.building import DesiredStack, Output, Place

STACK_KIND = "AWS::CloudFormation::Stack"
GONE = "DELETE_COMPLETE"
REVIEWED = "REVIEW_IN_PROGRESS"


def now() -> str:
    """The time as CloudFormation writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")[:-4] + "Z"


@dataclass
class Part:
    """A resource of a stack."""

    logical_id: str
    kind: str
    physical_id: str = ""
    status: str = ""
    reason: str = ""
    at: str = field(default_factory=now)


@dataclass(frozen=True)
class Event:
    """An event of a resource or of the stack."""

    logical_id: str
    kind: str
    physical_id: str
    status: str
    reason: str
    token: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    at: str = field(default_factory=now)


@dataclass(frozen=True)
class Change:
    """The effect of a change set on a resource."""

    action: str
    logical_id: str
    kind: str
    replaces: bool = False


@dataclass
class ChangeSet:
    """A change that can be executed once."""

    name: str
    id: str
    wanted: DesiredStack
    tags: list[Mapping[str, str]]
    changes: list[Change]
    status: str
    reason: str = ""
    created: str = field(default_factory=now)


@dataclass
class Record:
    """A stack."""

    name: str
    id: str
    status: str = REVIEWED
    reason: str = ""
    protected: bool = False
    wanted: DesiredStack | None = None
    tags: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
    outputs: list[Output] = field(default_factory=list[Output])
    imports: frozenset[str] = frozenset()
    events: list[Event] = field(default_factory=list[Event])
    change_sets: dict[str, ChangeSet] = field(default_factory=dict[str, ChangeSet])
    token: str = ""
    created: str = field(default_factory=now)

    @classmethod
    def new(cls, name: str, place: Place) -> "Record":
        """A stack under review."""
        return cls(name, place.arn("cloudformation", f"stack/{name}/{uuid.uuid4()}"))

    @property
    def exports(self) -> dict[str, str]:
        """The names under which other stacks may import values."""
        return {output.export: output.value for output in self.outputs if output.export is not None}

    def becomes(self, status: str, reason: str = "") -> None:
        """Change the status of the stack."""
        self.status, self.reason = status, reason
        self._note(Part(self.name, STACK_KIND, self.id, status, reason))

    def part_becomes(self, logical_id: str, status: str, reason: str = "") -> None:
        """Change the status of a resource."""
        part = self.parts[logical_id]
        part.status, part.reason, part.at = status, reason, now()
        self._note(part)

    def old_becomes(self, old: Part, status: str, reason: str = "") -> None:
        """Record an event of a resource that was replaced."""
        self._note(replace(old, status=status, reason=reason))

    def _note(self, part: Part) -> None:
        facts = (part.logical_id, part.kind, part.physical_id, part.status, part.reason)
        self.events.insert(0, Event(*facts, self.token))
