"""Converts facts to attributes of a file and back. Pure, and total."""

import base64
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from backend.core.names import valid_text
from backend.domains.facts.models import (
    Inspection,
    Reference,
    Source,
    StoredReferences,
    Value,
)
from backend.domains.metadata.models import Record
from backend.numbers import is_finite
from backend.spec.facts import (
    FACT_PREFIX,
    FACTS,
    READERS_VERSION_KEY,
    REFERENCES_KEY,
    REFUSED_KEY,
    SHAPE_KEY,
    SHAPE_NUMBERS,
    SOURCE_VERSION_KEY,
    YEARS,
    FactType,
)

# Length of a fact with a text, which searches also index.
MAX_TEXT_CHARS = 1000
# References of one file that are stored; further ones are counted (decision 50). With the bytes
# below they are one item, of at most 400 KB.
MAX_REFERENCES = 1000
MAX_REFERENCES_BYTES = 100_000
_SHAPE = struct.Struct(f"<{SHAPE_NUMBERS}f")


def records_of(inspection: Inspection) -> list[Record]:
    """Return the attributes that hold an inspection's facts.

    Unknown facts, values of another type and numbers that are not finite are left out.
    """
    facts: dict[str, Value | None] = {
        **inspection.facts,
        "refused": inspection.refused,
        "sourceVersionId": inspection.source.version_id,
        "readersVersion": inspection.readers_version,
    }
    texts = {fact.key: _text(fact.type, facts.get(fact.name)) for fact in FACTS}
    if inspection.references:
        kept: list[Reference] = []
        size = 0
        for reference in inspection.references[:MAX_REFERENCES]:
            clean = reference.model_copy(update={"path": _clean(reference.path)[:MAX_TEXT_CHARS]})
            size += len(clean.model_dump_json(by_alias=True).encode()) + 1
            if size > MAX_REFERENCES_BYTES:
                break
            kept.append(clean)
        stored = StoredReferences(references=kept, omitted=len(inspection.references) - len(kept))
        texts[REFERENCES_KEY] = stored.model_dump_json(by_alias=True)
    if inspection.descriptor is not None:
        texts[SHAPE_KEY] = shape_text(inspection.descriptor)
    return [Record(metadata_key=key, metadata_value=text) for key, text in texts.items() if text]


def records_of_failure(version_id: str, reason: str) -> list[Record]:
    """Return the facts of a version whose inspection failed: it is refused with this reason."""
    # Without a version of readers: none has read the file, so renewals request it again.
    return records_of(Inspection(version=1, source=Source(version_id=version_id), refused=reason))


def is_from_readers(stored: Mapping[str, Record], version_id: str) -> bool:
    """Return whether these attributes are what readers found in a version, not only a failure."""
    source = stored.get(SOURCE_VERSION_KEY)
    if source is None or source.metadata_value != version_id:
        return False
    return REFUSED_KEY not in stored or READERS_VERSION_KEY in stored


def facts_of(records: Iterable[Record]) -> dict[str, str]:
    """Return the facts in attributes, as texts by name, without references and shape."""
    return {
        record.metadata_key.removeprefix(FACT_PREFIX): record.metadata_value
        for record in records
        if record.metadata_key.startswith(FACT_PREFIX)
        and record.metadata_key not in {REFERENCES_KEY, SHAPE_KEY}
    }


def shape_text(numbers: Sequence[Any]) -> str | None:
    """Return a shape in stored form; None for an invalid one."""
    if len(numbers) != SHAPE_NUMBERS or not all(is_finite(number) for number in numbers):
        return None
    try:
        return base64.b64encode(_SHAPE.pack(*numbers)).decode()
    except OverflowError:  # outside the range of a float32
        return None


def _text(fact_type: FactType, value: Value | None) -> str | None:
    match fact_type:
        case "boolean":
            return str(value).lower() if isinstance(value, bool) else None
        case "number":
            return (
                repr(value)
                if (is_finite(value) and (isinstance(value, float) or abs(value) < 2**63))
                else None
            )
        case "date":
            return value if isinstance(value, str) and _is_date(value) else None
        case "string":
            return _clean(value)[:MAX_TEXT_CHARS] if isinstance(value, str) else None


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).year in YEARS
    except ValueError:
        return False


def _clean(text: str) -> str:
    """Replace characters that no store accepts: NUL characters and lone surrogates."""
    return valid_text(text.replace("\u0000", "\ufffd"))
