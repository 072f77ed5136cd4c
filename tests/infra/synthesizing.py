"""`python -m tests.infra.synthesizing FOLDER`: write the assemblies that the tests read.

One process writes them all: loading CDK and starting its kernel takes longer than an assembly.
Standard input holds their contexts by name as JSON; each is a folder of its name.
"""

import json
import sys
from pathlib import Path

from infra.assembly import build


def main(folder: str) -> None:
    """Synthesize each context, with no plugins that validate."""
    for name, context in json.load(sys.stdin).items():
        build(str(Path(folder) / name), context).synth()


if __name__ == "__main__":
    main(sys.argv[1])
