"""`python -m benchmarks.scale`: the time of searches as the indexes grow.

The judged queries (a mixed set) run through the product's search service over 10,000 documents and
more: alone, with facets, and with 200 rules, alternating; suggestions are measured too, and
searches by shapes of 100 points; each document has a shape of 9. It fails above the targets at
100,000 documents. Rates depend on the machine, ratios can be compared.
"""

import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

from backend.core.errors import UnavailableError
from backend.core.identity import Identity
from backend.core.search_engine import JsonObject
from backend.domains.access.policy.model import ALLOW, DENY, Criterion, Rule
from backend.domains.access.policy.search_filter import search_filter
from backend.search.query.models import SearchBody, SuggestQuery
from backend.search.query.service import SearchService
from benchmarks.access import cluster
from benchmarks.relevance.corpus import PRODUCTS, Thing, generate_things
from benchmarks.relevance.judging import queries
from benchmarks.relevance.measure import Collection, DocumentRefusedError
from tests.factories.access import OnlyUser

RULES = 200
AT = 100_000
"""Number of documents for which the targets are defined."""
TARGETS = {
    "p50 ms": 50.0,
    "p99 ms": 200.0,
    "suggest p99 ms": 50.0,
    "shapes p50 ms": 50.0,
    "facets": 2.0,
    "rules": 1.5,
}
SIZES = (10_000, 30_000, AT, 300_000, 1_000_000)
PAGE = 25

_DATABASES, _ROUNDS = 50, 3
_WARMING = 8
"""Rounds before measurements, in which OpenSearch's code is compiled."""
_CALLER = Identity("admin")
_TYPED = ("pu", "hel", "gear p", "nordw", "mat", "spare", "amph", "cast i", "hg-1", "engine bl")
_STATES = ("released", "prototype", "obsolete", "in review", "spare part", "scanned")
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Variant = Callable[[Mapping[str, Any]], object]
Figures = dict[str, float]


@dataclass(frozen=True)
class Ruled(OnlyUser):
    """A caller with access by rules."""

    visible: JsonObject | None = None

    def search_filter(self, caller: Identity) -> JsonObject | None:
        return self.visible if caller.user_id == self.user_id else None


@app.command()
def main(
    *,
    documents: Annotated[int, typer.Option(min=SIZES[0])] = AT,
    minutes: Annotated[float, typer.Option(help="Grow no more after that many.")] = 15,
    output: Annotated[Path, typer.Option(help="Where to write JSON, and the chart.")] = Path(
        ".local/bench-scale.json"
    ),
) -> None:
    """Fill the indexes step by step, measure at each size, and draw the growth."""
    until = time.monotonic() + minutes * 60
    figures_by_size: dict[int, Figures] = {}
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        growth = _Growth(Collection(engine, "scale", "boolean"), until)
        try:
            for size in [size for size in SIZES if size <= documents]:
                growth.grow(size)
                figures_by_size[growth.count] = _measured(
                    growth, warming=1 if figures_by_size else _WARMING
                )
                rounded = {
                    name: round(value, 2) for name, value in figures_by_size[growth.count].items()
                }
                _screen.print(rounded)
        except (TimeoutError, DocumentRefusedError, UnavailableError) as reason:
            # Measurements count until the time or the memory of OpenSearch is used up.
            _screen.print(f"stopped at {growth.count} documents: {reason}")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(figures_by_size, indent=2) + "\n", encoding="utf-8")
    draw(figures_by_size, output.with_suffix(".png"))
    missed = _missed(figures_by_size)
    for line in missed:
        _screen.print(f"missed: {line}")
    raise typer.Exit(1 if missed else 0)


class _Growth:
    """A corpus that grows, with the services that search it."""

    def __init__(self, collection: Collection, until: float) -> None:
        visible = search_filter(_rules(random.Random(1)))
        self.collection, self.until, self.count = collection, until, 0
        self.service = collection.service
        self.ruled = replace(collection.service, visibility=Ruled(visible=visible))
        self._things = _things()

    def grow(self, size: int) -> None:
        """Add documents until there are `size` of them, or a few more.

        Raises:
            TimeoutError: the time is over.
            DocumentRefusedError: OpenSearch refuses one.
            UnavailableError: OpenSearch does not respond, or is out of memory.
        """
        start = time.monotonic()
        while self.count < size:
            if time.monotonic() > self.until:
                raise TimeoutError("the time is over")
            some = list(islice(self._things, 2000))
            self.collection.fill(some)
            self.count += sum(1 + len(thing.paths) for thing in some)
        _screen.print(f"{self.count} documents, the last in {time.monotonic() - start:.0f} s")


def _things() -> Iterator[Thing]:
    for thing in generate_things(SIZES[-1]):
        chance = random.Random(thing.number)
        area = json.dumps(_polygon(chance, corners=8, degrees=0.01))
        yield replace(thing, database=f"database-{thing.number % _DATABASES}", area=area)


def _polygon(chance: random.Random, *, corners: int, degrees: float) -> JsonObject:
    """A star around some place; `degrees` is its largest radius."""
    longitude, latitude = chance.uniform(-160, 160), chance.uniform(-70, 70)
    ring: list[list[float]] = []
    for number in range(corners):
        angle, radius = math.tau * number / corners, degrees * chance.uniform(0.3, 1)
        ring.append([longitude + radius * math.cos(angle), latitude + radius * math.sin(angle)])
    return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def _rules(chance: random.Random) -> list[Rule]:
    """Three of four rules allow; each names a database and up to two properties of assets."""
    return [_rule(chance, number) for number in range(RULES)]


def _rule(chance: random.Random, number: int) -> Rule:
    traits = (
        Criterion("tags", "equals", (chance.choice(_STATES),)),
        Criterion("tags", "does_not_contain", (chance.choice(_STATES)[:4],)),
        Criterion("assetName", "contains", (chance.choice(PRODUCTS["drives"])[:6],)),
        Criterion("assetName", "ends_with", (str(chance.randrange(10, 400, 5)),)),
        Criterion("assetName", "starts_with", (chance.choice(PRODUCTS["vehicles"])[:4],)),
        Criterion("assetType", "is_one_of", (".glb", ".step", "folder")),
    )
    block = (
        Criterion("databaseId", "equals", (f"database-{chance.randrange(_DATABASES)}",)),
        *chance.sample(traits, chance.randrange(3)),
    )
    return Rule(str(number), "asset", block, (), {"GET": ALLOW if number % 4 else DENY})


def _measured(growth: _Growth, *, warming: int) -> Figures:
    """Return percentiles and ratios; the variants of a query run one after the other."""
    service = growth.service
    variants: dict[str, Variant] = {
        "alone": lambda body: _search(service, body, facets=False),
        "facets": lambda body: _search(service, body, facets=True),
        "rules": lambda body: _search(growth.ruled, body, facets=False),
    }
    taken: dict[str, list[float]] = {name: [] for name in (*variants, "suggest", "shapes")}
    chance = random.Random(2)
    for number in range(warming + _ROUNDS):
        for place, query in enumerate(queries()):
            names = list(variants)
            for name in names[place % 3 :] + names[: place % 3]:
                taken[name].append(_seconds(variants[name], query.body))
            typed = SuggestQuery(q=_TYPED[place % len(_TYPED)])
            taken["suggest"].append(_seconds(lambda query: service.suggest(_CALLER, query), typed))
            shape = _polygon(chance, corners=99, degrees=10 ** chance.uniform(-1, 1.2))
            taken["shapes"].append(_seconds(variants["alone"], {"geoSearch": {"geoJson": shape}}))
        if number == warming - 1:
            taken = {name: [] for name in taken}
    alone = median(taken["alone"])
    return {
        "p50 ms": 1000 * alone,
        "p99 ms": 1000 * _percentile(taken["alone"], 99),
        "facets p50 ms": 1000 * median(taken["facets"]),
        "facets p99 ms": 1000 * _percentile(taken["facets"], 99),
        "rules p50 ms": 1000 * median(taken["rules"]),
        "rules p99 ms": 1000 * _percentile(taken["rules"], 99),
        "shapes p50 ms": 1000 * median(taken["shapes"]),
        "shapes p99 ms": 1000 * _percentile(taken["shapes"], 99),
        "suggest p50 ms": 1000 * median(taken["suggest"]),
        "suggest p99 ms": 1000 * _percentile(taken["suggest"], 99),
        "facets": median(taken["facets"]) / alone,
        "rules": median(taken["rules"]) / alone,
    }


def _search(service: SearchService, body: Mapping[str, Any], *, facets: bool) -> object:
    request = SearchBody.model_validate({"size": PAGE, **body, "aggregations": facets})
    return service.search(_CALLER, request)


def _seconds(work: Callable[[Any], object], request: object) -> float:
    start = time.perf_counter()
    work(request)
    return time.perf_counter() - start


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def draw(figures_by_size: Mapping[int, Figures], file: Path) -> None:
    """Draw the percentiles by the number of documents."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    styles = {"": "-", "facets ": "--", "rules ": ":", "suggest ": "-.", "shapes ": (0, (1, 5))}
    for name, style in styles.items():
        for percent, color in (("p50", "#1b6ca8"), ("p99", "#b5462f")):
            values = [figures[f"{name}{percent} ms"] for figures in figures_by_size.values()]
            label = f"{name.strip() or 'query alone'}, {percent}"
            axes.plot(list(figures_by_size), values, style, color=color, marker=".", label=label)
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="ms")
    axes.set_title(f"the judged queries, pages of {PAGE}, {RULES} rules", fontsize=9)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(file, dpi=90)


def _missed(figures_by_size: Mapping[int, Figures]) -> list[str]:
    figures = next((row for size, row in figures_by_size.items() if AT <= size < 2 * AT), Figures())
    return [
        f"{name} is {figures[name]:.2f} at {AT} documents, at most {most:g}"
        for name, most in TARGETS.items()
        if name in figures and figures[name] > most
    ]


if __name__ == "__main__":
    sys.exit(app())
