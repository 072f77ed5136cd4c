"""The page on costs, made from the figures of `benchmarks.costs`."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from backend.spec.functions import FUNCTIONS, Function
from backend.spec.state_machine import definition
from docs.idle_costs import idle_costs
from docs.tables import rows

_SERVICES = ("dynamodb", "s3", "opensearch", "sqs")
_HEAD = ("DynamoDB", "S3", "OpenSearch", "SQS", "read units", "write units")
_INTRODUCTION = """\
What the product asks of AWS for each operation, and the units that DynamoDB charges for it by its
rules: from the sizes of the items that are touched, transactions double, indexes by what of their
entries changes. Measured with the deployed handlers on moto by `benchmarks.costs`, the same in
every run; assets have names and descriptions of some fifty letters and no tags, files four bytes.

The function that answers runs already, but asks whether anybody's rights have changed, as it does
every two seconds: within these it is one `GetItem` and one read unit less. A cold function, which
has just started, reads once what it then keeps (the caller's rights, the bucket's record for a
minute, secrets for good); where rights have changed, they are read anew.
The gateway keeps the answer on a key for five seconds. What waits in queues is received by AWS on
its own account."""
_FOLLOWS = """\
What one such operation alone sets going behind the API. Streams and queues are read in batches:
under load one run of a function serves many changes, so that these figures are the most that a
change costs. `IndexSettle` comes after 15 minutes, when the table indexes have caught up."""

_PROCESSING = """\
An execution of a workflow is charged by its state transitions, and its functions by their seconds
and memory. The state machine enters four states for the whole execution, two for each pipeline, and
two more for one that follows another, to see what that one wrote; retries, and outputs that take
several calls to store, add some. Step Functions logs some thirty lines an execution, and its two
status events are free. A shipped pipeline adds a read of the file, a write of its facts, and one
each of a thumbnail and a GLB; ProcessOutput stores the outputs.

Where a pipeline calls its reader, it is charged for the seconds in which it waits (512 MB with
`readers` set to `always`), and the reader for each round, usually one to three. Each file starts an
instance of the reader: its libraries take 0.6 seconds of a processor to load, beside the start of
Lambda itself, which was not measured. AWS charges for each isolated instance that it creates, by
its memory: 0.000167 USD for a gigabyte, so 0.33 USD for a thousand files (unverified)."""

Figures = Mapping[str, Any]


def measured() -> dict[str, Figures]:
    """The figures, from a process of their own: measuring takes its environment and clients over.

    Raises:
        CalledProcessError: an operation fails.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "costs.json"
        command = [sys.executable, "-m", "benchmarks.costs", str(file)]
        subprocess.run(command, check=True, cwd=Path(__file__).parents[1], stdout=sys.stderr)
        return json.loads(file.read_text(encoding="utf-8"))


def costs(figures: Mapping[str, Figures]) -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    yield ""
    yield from rows(
        ("operation", *_HEAD, "a cold function adds"),
        (
            (name, *_cells(each["request"]), _added(each["request"], each.get("cold")))
            for name, each in figures.items()
        ),
    )
    yield from ("", "## What follows", "", *_FOLLOWS.splitlines(), "")
    yield from rows(
        ("operation", "function", *_HEAD),
        (
            (name, function, *_cells(after))
            for name, each in figures.items()
            for function, after in each["after"].items()
        ),
    )
    yield from ("", "## What processing a file costs", "", *_PROCESSING.splitlines(), "")
    yield from rows(("pipelines", "state transitions", "functions"), _processing())
    yield from ("", "## What costs while nobody works", "", *idle_costs())
    yield from ("", "## The requests to DynamoDB", "")
    yield from rows(
        ("operation", "requests"),
        ((name, _named(each["request"])) for name, each in figures.items()),
    )


def _processing() -> Iterator[tuple[str, ...]]:
    declared = definition("ProcessOutput")["States"].values()
    of_execution = sum(1 for state in declared if state["Type"] != "Fail")
    of_pipeline = 2  # the choice of its kind, and its task
    outputs = [spec for spec in FUNCTIONS if spec.kind == "output"]
    for pipelines in (1, 2):
        names = ["of its pipelines", *(f"{spec.name} ({spec.memory_mb} MB)" for spec in outputs)]
        looks = 2 * (pipelines - 1)  # for the files of the pipeline before
        count = of_execution + of_pipeline * pipelines + looks
        yield f"{pipelines} in a workflow", str(count), ", ".join(names)
    for spec in FUNCTIONS:
        if spec.kind == "pipeline":
            used = (_size(spec), *(f"or waiting for {_size(each)}" for each in spec.calls))
            yield f"a file for {spec.name}", str(of_execution + of_pipeline), ", ".join(used)


def _size(spec: Function) -> str:
    return f"{spec.name} ({spec.memory_mb} MB, {spec.timeout_seconds} s at most)"


def _cells(figures: Figures) -> tuple[str, ...]:
    requests = (str(_total(figures, service) or "") for service in _SERVICES)
    return (*requests, f"{figures['readUnits']:g}", f"{figures['writeUnits']:g}")


def _total(figures: Figures, service: str) -> int:
    return sum(figures["requests"].get(service, {}).values())


def _added(warm: Figures, cold: Figures | None) -> str:
    if cold is None:
        return ""
    more = _total(cold, "dynamodb") - _total(warm, "dynamodb")
    units = cold["readUnits"] - warm["readUnits"]
    return f"{more} to DynamoDB, {units:g} read units" if more or units else ""


def _named(figures: Figures) -> str:
    named = figures["requests"].get("dynamodb", {})
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in named.items())
