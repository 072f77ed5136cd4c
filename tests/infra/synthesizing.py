"""`python -m tests.infra.synthesizing FOLDER CONTEXTS`: write assemblies for tests.

One process writes several, because loading CDK and starting its kernel takes longer than an
assembly. The contexts are JSON, by name; each assembly is a folder of its name.
"""

import json
import sys
from pathlib import Path

from infra.assembly import build


def main(folder: str, contexts: str) -> None:
    """Synthesize each context, without validation plugins."""
    for name, context in json.loads(contexts).items():
        build(str(Path(folder) / name), context).synth()


if __name__ == "__main__":
    main(*sys.argv[1:])
