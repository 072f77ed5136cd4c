"""`python -m benchmarks.starts [NAME…]`: what functions do at their start, beside their libraries.

Counted in instructions, which a busy machine does not change; this needs `valgrind`. It takes six
to twenty seconds a function.
"""

import sys
from collections.abc import Sequence

from backend.spec.functions import FUNCTIONS
from tests.architecture.starting import Start, libraries, start_of

MOST = 1.25
"""Times what the libraries alone take."""


def main(names: Sequence[str]) -> int:
    """Print the ratio of each function, or of those named.

    Answers with 1 where one is too much, and with 2 where a name is of no function.
    """
    unknown = set(names) - {function.name for function in FUNCTIONS}
    if unknown:
        sys.stderr.write(f"no such functions: {', '.join(sorted(unknown))}\n")
        return 2
    wanted = [each for each in FUNCTIONS if not names or each.name in names]
    needed: dict[bool, int] = {}
    worst = 0.0
    for function in wanted:
        searching = function.search != "none"
        if searching not in needed:
            needed[searching] = _counted(libraries(searching=searching))
        ratio = _counted(start_of(function)) / needed[searching]
        worst = max(worst, ratio)
        sys.stdout.write(f"{ratio:.3f} {function.name}\n")
        sys.stdout.flush()
    return int(worst > MOST)


def _counted(start: Start) -> int:
    start.run()  # compiles what is not compiled yet
    return start.instructions()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
