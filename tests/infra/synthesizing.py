"""`python -m tests.infra.synthesizing FOLDER CONTEXTS`: write assemblies that the tests read.

One process writes several: loading CDK and starting its kernel takes longer than an assembly.
The contexts are JSON, by name; each assembly is a folder of its name.
"""

import json
import sys
from pathlib import Path

from infra.assembly import build


def main(folder: str, contexts: str) -> None:
    """Synthesize each context, with no plugins that validate."""
    for name, context in json.loads(contexts).items():
        build(str(Path(folder) / name), context).synth()


if __name__ == "__main__":
    main(*sys.argv[1:])
