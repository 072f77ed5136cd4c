"""Checks the results of a child: a compromised child may return anything."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from backend.numbers import is_finite
from backend.processing import limits
from backend.processing.files import Kind, Reference, State
from backend.processing.jail.confinement import Bounds
from backend.processing.measurements import Facts, known_and_finite
from backend.processing.readers.json_values import listing, mapping
from backend.processing.texts import printable_line, without_surrogates
from backend.spec.facts import SHAPE_NUMBERS
from backend.spec.inspection_outputs import INSPECTION_OUTPUTS


class ReadingStalledError(Exception):
    """A file was not read in time for a reason that is not in the file: it can be read later.

    The state machine repeats the pipeline after an error of this name (`spec.state_machine`).
    """


_KINDS, _STATES = get_args(Kind), get_args(State)
# As the length at which facts are stored (`MAX_TEXT_CHARS`).
_TEXT = 1000


@dataclass(frozen=True)
class Result:
    """The result for a file. The fields of the outputs are true if the file was written."""

    facts: Facts = field(default_factory=dict[str, "str | int | float | bool"])
    refused: str | None = None
    descriptor: list[float] | None = None
    references: list[Reference] = field(default_factory=list["Reference"])
    thumbnail: bool = False
    glb: bool = False
    turntable: bool = False
    small: bool = False
    structure: bool = False


def check_result(answer: object) -> Result:
    """Return the valid parts of a child's result."""
    result = mapping(answer)
    reason = _reason(result.get("refused"))
    references = [_reference(mapping(reference)) for reference in listing(result.get("references"))]
    numbers = listing(result.get("descriptor"))
    is_descriptor = len(numbers) == SHAPE_NUMBERS and all(map(is_finite, numbers))
    return Result(
        facts={} if reason else _facts(mapping(result.get("facts"))),
        refused=reason,
        descriptor=[float(number) for number in numbers] if is_descriptor else None,
        references=[reference for reference in references if reference is not None][
            : limits.REFERENCES
        ],
        **{output.name: result.get(output.name) is True for output in INSPECTION_OUTPUTS},
    )


@dataclass(frozen=True)
class Ended:
    """The end of a child without a result: its exit status and usage, and whether it was `late`."""

    status: int
    late: bool
    cpu_seconds: float
    seconds: float


def refusal(ended: Ended, bounds: Bounds) -> Result:
    """Return the result for a child that was killed, or has ended without a result.

    Raises:
        ReadingStalledError: it took too long, but not of a processor: the file is not the reason.
    """
    ended_by = os.WTERMSIG(ended.status) if os.WIFSIGNALED(ended.status) else 0
    # Before `late`: a child that used up its processor time is refused, however long it took.
    if ended_by == signal.SIGXCPU or ended.cpu_seconds >= bounds.cpu_seconds:
        reason = f"reading takes more than {bounds.cpu_seconds} seconds of processor time"
    elif ended.late:
        raise ReadingStalledError(
            f"the process that reads the file had {ended.cpu_seconds:.1f} seconds of a processor "
            f"in {ended.seconds:g} seconds (it may use {bounds.cpu_seconds}): the machine is busy, "
            "or the process waits for something"
        )
    elif ended_by == signal.SIGXFSZ:
        reason = f"the result is larger than {bounds.output_bytes // limits.MIB} MiB"
    # The kernel kills on lack of memory; C++ libraries abort if they cannot allocate.
    elif ended_by in {signal.SIGKILL, signal.SIGABRT}:
        reason = (
            "the process that reads the file was ended, possibly because it needs more memory "
            "than allowed"
        )
    else:
        reason = "the process that reads the file crashed"
    return Result(refused=reason)


def _reason(text_or_none: object) -> str | None:
    if text_or_none is None:
        return None
    text = (
        printable_line(text_or_none)[: limits.REASON_CHARACTERS]
        if isinstance(text_or_none, str)
        else ""
    )
    return text or "the reader gives no reason"


def _facts(facts: Mapping[str, Any]) -> Facts:
    plain = {
        str(name): value[:_TEXT] if isinstance(value, str) else value
        for name, value in facts.items()
        if isinstance(value, str | int | float | bool)
    }
    return known_and_finite(plain)


def _reference(fields: Mapping[str, Any]) -> Reference | None:
    path = fields.get("path")
    kind: Any = fields.get("kind")
    state: Any = fields.get("state")
    # Tuples: values of JSON need not be hashable.
    if not isinstance(path, str) or kind not in _KINDS or state not in _STATES:
        return None
    return Reference(without_surrogates(path[:_TEXT]), kind, state)
