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
The requests to AWS of each operation, and the units that DynamoDB charges for them: by the sizes of
the items, twice for transactions, and for indexes by the changed entries. `benchmarks.costs`
measures the deployed handlers on moto, with the same result in every run. Assets have names and
descriptions of some fifty letters and no tags; files have four bytes.

The function is running already, but checks whether permissions have changed, as it does every two
seconds. Without that check an operation takes one `GetItem` and one read unit less. A cold function
has just started, and reads what it then caches: the caller's permissions, the bucket's record for a
minute, and secrets. Changed permissions are read again. With the setting `events`, EventPublisher
publishes each change, and EventBridge or SQS charges each event in addition.
API Gateway caches the result for a key for five seconds. The requests with which Lambda receives
messages are not included."""
_FOLLOWS = """\
The work that one such operation causes after its reply. Streams and queues are read in batches:
under load one call of a function handles many changes, so these figures are the maximum cost of a
change. `IndexSettle` runs after 15 minutes, when the table indexes are up to date."""

_PROCESSING = """\
Step Functions charges an execution by its state transitions, and Lambda charges its functions by
time and memory. The state machine enters four states for the whole execution, two for each
pipeline, and two more for each pipeline after the first, to list the outputs of the one before.
Retries, and outputs that take several calls to store, add transitions. Step Functions logs some
thirty lines per execution, and its two status events are free. A shipped pipeline adds a read of
the file and writes of its facts, a thumbnail and a GLB; ProcessOutput stores the outputs.

If a pipeline calls its reader, the pipeline is charged for the time in which it waits (512 MB with
`readers` set to `always`), and the reader for each round, usually one to three. Each file starts an
instance of the reader: loading its libraries takes 0.6 seconds of processor time, in addition to
Lambda's own start, which was not measured. AWS charges for each isolated instance that it creates,
by its memory: 0.000167 USD for a gigabyte, so 0.33 USD for a thousand files (unverified)."""

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
        ("operation", *_HEAD, "added by a cold function"),
        (
            (name, *_cells(usage["request"]), _added(usage["request"], usage.get("cold")))
            for name, usage in figures.items()
        ),
    )
    yield from ("", "## Work after the reply", "", *_FOLLOWS.splitlines(), "")
    yield from rows(
        ("operation", "function", *_HEAD),
        (
            (name, function, *_cells(after))
            for name, usage in figures.items()
            for function, after in usage["after"].items()
        ),
    )
    yield from ("", "## What processing a file costs", "", *_PROCESSING.splitlines(), "")
    yield from rows(("pipelines", "state transitions", "functions"), _processing())
    yield from ("", "## What costs without use", "", *idle_costs())
    yield from ("", "## The requests to DynamoDB", "")
    yield from rows(
        ("operation", "requests"),
        ((name, _named(usage["request"])) for name, usage in figures.items()),
    )


def _processing() -> Iterator[tuple[str, ...]]:
    declared = definition("ProcessOutput")["States"].values()
    of_execution = sum(1 for state in declared if state["Type"] != "Fail")
    of_pipeline = 2  # the choice of its kind, and its task
    outputs = [spec for spec in FUNCTIONS if spec.kind == "output"]
    for pipelines in (1, 2):
        names = [
            "those of its pipelines",
            *(f"{spec.name} ({spec.memory_mb} MB)" for spec in outputs),
        ]
        looks = 2 * (pipelines - 1)  # for the files of the pipeline before
        count = of_execution + of_pipeline * pipelines + looks
        yield f"{pipelines} in a workflow", str(count), ", ".join(names)
    for spec in FUNCTIONS:
        if spec.kind == "pipeline":
            used = (_size(spec), *(f"or waiting for {_size(call)}" for call in spec.calls))
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
