"""`python -m tests.infra.released`: write the facts of the current templates."""

import json
import tempfile
from pathlib import Path

from tests.infra.contexts import CONTEXTS
from tests.infra.released import ASSEMBLIES, FOLDER, immutable_facts
from tests.infra.templates import Assembly, synthesize_all


def main() -> None:
    """Synthesize each assembly and write one file for it, with a line for each resource."""
    with tempfile.TemporaryDirectory() as folder:
        synthesize_all(Path(folder), {name: {"context": CONTEXTS[name]} for name in ASSEMBLIES})
        for name in ASSEMBLIES:
            facts = immutable_facts(Assembly(Path(folder) / name))
            lines = [f"{json.dumps(key)}: {json.dumps(facts[key])}" for key in sorted(facts)]
            text = "{\n" + ",\n".join(lines) + "\n}\n"
            (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
