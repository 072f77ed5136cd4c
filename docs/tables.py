"""Tables in Markdown."""

from collections.abc import Iterable, Iterator


def rows(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table; what stands in a cell may not hold `|`."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(line)} |" for line in lines)
