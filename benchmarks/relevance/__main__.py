"""`python -m benchmarks.relevance`: the quality of rankings, on the judged set.

It prints recall and nDCG of the first ten hits for each kind of query, next to those of a plain
`multi_match`, and of the same queries in indexes with OpenSearch's default similarity. It fails if
a target is missed.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.access import cluster
from benchmarks.relevance.corpus import things
from benchmarks.relevance.judging import grade_things, queries
from benchmarks.relevance.measure import Collection, Scores, Typos, ndcg, scores

LEAST_NAVIGATIONAL_RECALL = 0.95
LEAST_CLOSED = 0.5
"""The target, relative to the distance of the plain query's nDCG to 1."""
QUERIES = queries()
_screen = Console(highlight=False, soft_wrap=True)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    *,
    per_query: Annotated[
        bool, typer.Option("--each", help="Print each query, the worst first.")
    ] = False,
    output: Annotated[Path, typer.Option(help="Where to write the JSON.")] = Path(
        ".local/bench-relevance.json"
    ),
) -> None:
    """Measure, print and compare with the targets."""
    corpus = things()
    grades = [grade_things(query, corpus) for query in QUERIES]
    with TemporaryDirectory() as folder, cluster(Path(folder)) as engine:
        isolated = Collection(engine, "isolated", "boolean")
        standard = Collection(engine, "standard", "BM25")
        for collection in (isolated, standard):
            collection.fill(corpus)
        by_engine = {
            "product": scores(QUERIES, grades, isolated.found),
            "plain": scores(QUERIES, grades, standard.found_plainly),
            "standard": scores(QUERIES, grades, standard.found),
        }
        typos = isolated.typos(corpus)
        if per_query:
            _show_each(isolated, grades)
    _show(by_engine, typos)
    output.parent.mkdir(parents=True, exist_ok=True)
    figures = {
        name: {kind: row._asdict() for kind, row in of.items()} for name, of in by_engine.items()
    }
    output.write_text(json.dumps({**figures, "typos": typos._asdict()}, indent=2) + "\n")
    missed = _list_misses(by_engine, typos)
    for line in missed:
        _screen.print(f"missed: {line}")
    raise typer.Exit(1 if missed else 0)


def _show(by_engine: dict[str, dict[str, Scores]], typos: Typos) -> None:
    table = Table(title="the first ten hits: recall and nDCG")
    table.add_column("kind")
    for name in ("queries", "recall", "plain", "nDCG", "plain", "standard similarity"):
        table.add_column(name, justify="right")
    for kind, row in by_engine["product"].items():
        plain, standard = by_engine["plain"][kind], by_engine["standard"][kind]
        figures = (row.recall, plain.recall, row.ndcg, plain.ndcg, standard.ndcg)
        table.add_row(kind, str(row.queries), *(f"{figure:.3f}" for figure in figures))
    _screen.print(table)
    _screen.print(
        f"of {typos.words} words that names have misspelt, {typos.finding} find such a name; it is"
        f" above an exact hit for {len(typos.above_exact)}"
    )


def _show_each(collection: Collection, grades: list[dict[str, int]]) -> None:
    pairs = [
        (query, graded, collection.found(query))
        for query, graded in zip(QUERIES, grades, strict=True)
    ]
    for query, graded, ids in sorted(pairs, key=lambda pair: ndcg(pair[2], pair[1])):
        marks = "".join(str(graded.get(name, 0)) for name in ids)
        _screen.print(
            f"{ndcg(ids, graded):.3f} {marks:10} {query.kind}: {query.body}", markup=False
        )


def _list_misses(by_engine: dict[str, dict[str, Scores]], typos: Typos) -> list[str]:
    ours, plain = by_engine["product"], by_engine["plain"]
    navigational = ours["navigational"].recall
    closed = 1 - (1 - ours["total"].ndcg) / (1 - plain["total"].ndcg)
    _screen.print(f"{closed:.2f} of the plain query's distance to 1 is closed")
    checks = {
        f"recall of navigational queries is {navigational:.3f}": (
            navigational >= LEAST_NAVIGATIONAL_RECALL
        ),
        f"{closed:.2f} of the distance to 1 is closed": closed >= LEAST_CLOSED,
        f"misspelt names above exact hits: {typos.above_exact}": not typos.above_exact,
        f"{typos.finding} of {typos.words} words find misspelt names": typos.finding > 0,
    }
    return [line for line, holds in checks.items() if not holds]


if __name__ == "__main__":
    sys.exit(app())
