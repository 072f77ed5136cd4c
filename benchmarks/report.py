"""Prints the figures as tables for people; programs read the JSON."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figures import FLOORS, Figures, Spread
from benchmarks.service import Service

RATES_NOTE = (
    "DynamoDB Local keeps its tables in memory here; ratios count, rates belong to this machine. "
    "A document counts each time it is written, since metadata, attributes and objects of a file "
    "come by different streams. The bare floors read in the same batches as the pipeline, which "
    "cut assets into pieces, or each asset once, which no consumer of batches can. Of the settling "
    "just the message is in the pipeline."
)
OPERATIONS_NOTE = (
    "Units by AWS's rules are in docs/reference/costs.md and in the JSON. Not counted here: the "
    "authorizer (2 reads, then cached), polling of streams and queues. OpenSearch does not "
    "name the caller: bulks of the settling are included in those of the indexing."
)
_ENGINES = ("dynamodb", "s3", "opensearch", "sqs")


def show_figures(screen: Console, figures: Figures, memory: Mapping[str, int]) -> None:
    """Print rates, ratios with their required values, and memory."""
    rates = _table("documents a second", "phase", "documents")
    for name, spread in figures.rates().items():
        _row(rates, name, spread, ".0f", str(figures.documents[name][-1]))
    ratios = _table("ratios", "part / whole", "demanded (wanted)")
    for name, spread in figures.ratios().items():
        floor = FLOORS.get(name)
        target = f"{floor.demanded} ({floor.wanted})" if floor else ""
        _row(ratios, name, spread, ".2f", target)
    peaks = Table(title="peak memory, MiB")
    for name in memory:
        peaks.add_column(name, justify="right")
    peaks.add_row(*map(str, memory.values()))
    for table in (rates, ratios, peaks):
        screen.print(table)
    screen.print(RATES_NOTE)


def show_operations(screen: Console, operations: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the requests of each operation, during the request and afterwards."""
    table = Table(title="requests of one operation", show_lines=True)
    for column in ("operation", "on behalf of", "requests"):
        table.add_column(column)
    for name, paths in operations.items():
        for number, (path, counts) in enumerate(sorted(paths.items())):
            lines = [_requests_text(engine, counts["requests"].get(engine)) for engine in _ENGINES]
            table.add_row("" if number else name, path, "\n".join(filter(None, lines)))
    screen.print(table)
    screen.print(OPERATIONS_NOTE)


def show_service(screen: Console, service: Service) -> None:
    """Print latencies, throughput, lag, the import, and the growth of memory."""
    table = Table(title=f"latency, ms (a GET takes {service.get_per_echo:.2f} echoes)")
    for column in ("call", "p50", "p90", "p99", "answers a second"):
        table.add_column(column, justify="left" if column == "call" else "right")
    for name, latency in service.latencies.items():
        rate = service.throughput.get(name)
        times = (f"{value * 1000:.1f}" for value in (latency.p50, latency.p90, latency.p99))
        table.add_row(name, *times, "" if rate is None else f"{rate:.0f}")
    screen.print(table)
    lag = service.lag.percentiles
    screen.print(
        f"found after, at {service.lag.rate:.1f} writes a second: "
        f"p50 {lag.p50:.2f} s, p99 {lag.p99:.2f} s, {lag.count} writes"
    )
    screen.print(f"import: {service.imported['files_per_second']} files a second, searchable")
    grown = (f"{name} {ratio:.2f}" for name, ratio in service.memory.growth().items())
    screen.print(f"memory, last fifth / second fifth: {', '.join(grown)}")


def _requests_text(engine: str, operations: Mapping[str, int] | None) -> str:
    if not operations:
        return ""
    listed = ", ".join(f"{name} {count}" for name, count in operations.items())
    return f"{engine} {sum(operations.values())}: {listed}"


def _table(title: str, first: str, last: str) -> Table:
    table = Table(title=title)
    table.add_column(first)
    for column in ("median", "range", last):
        table.add_column(column, justify="right")
    return table


def _row(table: Table, name: str, spread: Spread, form: str, last: str) -> None:
    low, high = format(spread.lowest, form), format(spread.highest, form)
    table.add_row(name, format(spread.median, form), f"{low} to {high}", last)
