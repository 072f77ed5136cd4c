"""Writes `web/src/api/declared.json`: declarations of the product that the page needs as values.

The page gets the types of the API from `openapi.json`, which does not contain these values.
"""

import json
from pathlib import Path

from backend.core.file_kinds import BLOCKED_EXTENSIONS
from backend.core.invisible import (
    ALLOWED,
    BLANK_END,
    BLANK_FACT,
    INVISIBLE,
    INVISIBLE_FACT,
    JOINERS,
)
from backend.core.names import ALL_EXTENSIONS, MAX_KEY_BYTES, NAME_RULES
from backend.domains.files.rules import MAX_DESTINATION_BYTES
from backend.spec.facts import FACTS
from backend.spec.formats import FORMAT_OF

FILE = Path(__file__).parent.parent / "web" / "src" / "api" / "declared.json"


def web_declarations() -> str:
    """Return the text of the file."""
    declared = {
        "facts": {fact.name: fact.type for fact in FACTS},
        "viewers": {
            extension: row.viewer for extension, row in FORMAT_OF.items() if row.viewer != "model"
        },
        "models": [
            extension
            for extension, row in FORMAT_OF.items()
            if row.kind in {"glTF", "model"} and row.viewer in {"model", "splats"}
        ],
        "files": {
            "nameRules": [{"pattern": rule.pattern, "fact": rule.fact} for rule in NAME_RULES],
            "invisible": {
                "blankEnd": {"pattern": BLANK_END, "fact": BLANK_FACT},
                "characters": {"pattern": INVISIBLE, "fact": INVISIBLE_FACT},
                "allowed": ALLOWED,
                "joiners": JOINERS,
            },
            "maxPathBytes": MAX_KEY_BYTES,
            "maxDestinationBytes": MAX_DESTINATION_BYTES,
            "blockedExtensions": BLOCKED_EXTENSIONS,
            "allExtensions": ALL_EXTENSIONS,
        },
    }
    return json.dumps(declared, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(web_declarations(), encoding="utf-8")
