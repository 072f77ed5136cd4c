"""Why OpenSearch refuses a document, in the product's own words.

Its own text names internal fields and quotes values of documents, so only the log has it.
"""

import re

from backend.core.search_engine import JsonObject

_TOO_LARGE = 413
_CLASSES: tuple[tuple[re.Pattern[str], str], ...] = (
    # The first that matches: limits are reported with the type of a document that is not parsed.
    (re.compile("number of nested documents"), "has more nested documents than the index allows"),
    (re.compile("Limit of total fields"), "has more fields than the index allows"),
    (re.compile("immense term|max_bytes_length"), "has a text that is too long for its field"),
    (re.compile("Limit of mapping depth|nesting depth|max depth"), "is nested too deeply"),
    (re.compile("String(?: value)? length|request_entity_too_large"), "is too large"),
    (re.compile("strict_dynamic_mapping"), "has a field that the mapping does not declare"),
    (
        re.compile("mapper_parsing|document_parsing|parse_exception|illegal_argument"),
        "has a value that the mapping of its field does not accept",
    ),
)
_OTHER = "is refused by OpenSearch; the log has the reason"


def refusal_of(status: int, error: JsonObject) -> str:
    """Return the class of a refusal, as a sentence on the document.

    `error` is the error of one item of a bulk response.
    """
    if status == _TOO_LARGE:
        return "The document is too large"
    cause: JsonObject = error.get("caused_by") or {}
    parts: tuple[object, ...] = (
        error.get("type"),
        error.get("reason"),
        cause.get("type"),
        cause.get("reason"),
    )
    text = " ".join(str(part) for part in parts if part)
    fact = next((fact for form, fact in _CLASSES if form.search(text)), _OTHER)
    return f"The document {fact}"
