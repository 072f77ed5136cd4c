"""A trace without its spans, as one packed attribute of its item."""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mlflow.entities import TraceInfo, TraceLocation, TraceState

from vitrine_mlflow.mlflow_traces import (
    COST,
    FINALIZED,
    NAME_TAG,
    SESSION,
    TOKEN_USAGE,
    validated_session,
)
from vitrine_mlflow.traces.assessment_records import assessment_of, record_of

_PROMOTED = (SESSION, TOKEN_USAGE, COST)
TOKEN_KEYS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_input_tokens_above_1hr",
)
COST_KEYS = ("input_cost", "output_cost", "total_cost")
# MLflow's own store has 64 bits for the number.
_LARGEST = (1 << 63) - 1


@dataclass
class TraceDocument:
    """All of a trace that lists and searches return, and the names of its spans' items."""

    time: int
    state: str
    duration: int | None = None
    client_request_id: str | None = None
    request: str | None = None
    response: str | None = None
    name: str | None = None
    session: str | None = None
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    cost: dict[str, float] = field(default_factory=dict[str, float])
    tags: dict[str, Any] = field(default_factory=dict[str, Any])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    assessments: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    runs: list[str] = field(default_factory=list[str])
    prompts: list[str] = field(default_factory=list[str])
    # each batch of spans: its id, empty for the first one, and the number of its items
    batches: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def pack(self) -> bytes:
        filled = {name: value for name, value in asdict(self).items() if value not in _EMPTY}
        return zlib.compress(json.dumps(filled, ensure_ascii=False).encode())

    @classmethod
    def unpack(cls, packed: bytes) -> "TraceDocument":
        return cls(**json.loads(zlib.decompress(packed)))

    def start(self, info: TraceInfo) -> None:
        """Take over what a finished trace reports; it overrides what its spans implied."""
        self.time = info.request_time
        self.duration = info.execution_duration
        self.state = info.state.value
        self.client_request_id = info.client_request_id
        if NAME_TAG in info.tags:
            self.name = info.tags[NAME_TAG]
        if info.request_preview is not None:
            self.request = info.request_preview
        if info.response_preview is not None:
            self.response = info.response_preview
        self.tags |= {key: value for key, value in info.tags.items() if key != NAME_TAG}
        self.promote(info.trace_metadata)
        self.metadata[FINALIZED] = "true"

    def promote(self, metadata: Mapping[str, Any]) -> None:
        """Add metadata, some of which has attributes of its own."""
        if SESSION in metadata:
            self.session = validated_session(metadata[SESSION])
        self.tokens = _changed_numbers(
            self.tokens, load_json(metadata.get(TOKEN_USAGE)), TOKEN_KEYS, count_of
        )
        self.cost = _changed_numbers(self.cost, load_json(metadata.get(COST)), COST_KEYS, number_of)
        for key, value in metadata.items():
            if key not in _PROMOTED:
                self.metadata[key] = value

    def add_tokens(self, usage: Mapping[str, Any]) -> None:
        for key in TOKEN_KEYS:
            count = count_of(usage.get(key))
            if count is not None:
                self.tokens[key] = count

    def add_cost(self, costs: Mapping[str, Any]) -> None:
        for key in COST_KEYS:
            number = number_of(costs.get(key))
            if number is not None:
                self.cost[key] = number

    def all_metadata(self) -> dict[str, Any]:
        metadata = dict(self.metadata)
        if self.session is not None:
            metadata[SESSION] = self.session
        for key, values, names in (
            (TOKEN_USAGE, self.tokens, TOKEN_KEYS),
            (COST, self.cost, COST_KEYS),
        ):
            if values:
                metadata[key] = json.dumps({name: values[name] for name in names if name in values})
        return metadata

    def all_tags(self) -> dict[str, Any]:
        return self.tags if self.name is None else {**self.tags, NAME_TAG: self.name}

    def add_assessments(self, info: TraceInfo, now: Callable[[], int]) -> None:
        for assessment in info.assessments:
            record = record_of(assessment, now)
            self.assessments[record["id"]] = record

    def entity(self, experiment_id: str, trace_id: str) -> TraceInfo:
        return TraceInfo(
            trace_id=trace_id,
            trace_location=TraceLocation.from_experiment_id(experiment_id),
            request_time=self.time,
            execution_duration=self.duration,
            state=TraceState(self.state),
            tags=dict(self.all_tags()),
            trace_metadata=self.all_metadata(),
            client_request_id=self.client_request_id,
            request_preview=self.request,
            response_preview=self.response,
            assessments=[
                assessment_of(trace_id, assessment) for assessment in self.assessments.values()
            ],
        )


_EMPTY: tuple[Any, ...] = (None, {}, [])


def load_json(value: Any) -> dict[str, Any]:
    """An object, or JSON of one; anything else as an empty object."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if not isinstance(value, dict):
        return {}
    loaded: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
    return loaded


def _changed_numbers(
    known: Mapping[str, Any],
    changes: Mapping[str, Any],
    names: tuple[str, ...],
    convert: Callable[[Any], Any],
) -> dict[str, Any]:
    """Known values with those that are given; a given one that is no number removes the known."""
    changed = {**known, **{name: convert(changes[name]) for name in names if name in changes}}
    return {name: value for name, value in changed.items() if value is not None}


def count_of(value: Any) -> int | None:
    """A whole number of tokens, or None."""
    number = number_of(value)
    if number is None or not number.is_integer() or abs(number) > _LARGEST:
        return None
    return int(value) if isinstance(value, int) else int(number)


def number_of(value: Any) -> float | None:
    """A finite number, or None."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
