"""The table of formats: its names resolve, and each promise is kept."""

import re
from importlib.util import find_spec

import pytest

from backend.processing.inspection import inspect
from backend.processing.readers.checks import CHECKS
from backend.processing.readers.documents import DOCUMENT_READERS
from backend.processing.readers.models import READERS
from backend.processing.readers.units import RULES
from backend.spec.formats import FORMAT_OF, FORMATS, Format, reason_not_inspected
from tests.unit.processing.samples import Asset
from tests.unit.processing.test_boxes import BOXES


@pytest.mark.parametrize("format_", FORMATS, ids=lambda each: each.name)
def test_the_names_of_a_format_resolve(format_: Format) -> None:
    is_read = format_.tier != "Stored"
    assert is_read == (format_.reader in {*READERS, *DOCUMENT_READERS})
    assert format_.check in {"", *CHECKS}
    assert format_.units in {"", *RULES}
    assert all(find_spec(name) for name in format_.libraries.split())
    re.compile(format_.start)
    for extension in format_.extensions.split():
        assert FORMAT_OF[extension] is format_  # in one row only
        reason = reason_not_inspected(extension)
        assert (reason is None) == is_read
        assert format_.convert_to in (reason or "")


@pytest.mark.parametrize(
    "case", ["off", "ase", "3ds", "amf of feet", "obj", "glb", "3mf of inches"]
)
def test_facts_that_no_second_program_confirms_are_unverified(case: str) -> None:
    name, data, _, _ = BOXES[case]
    facts = inspect(name, data if isinstance(data, bytes) else data.encode(), Asset()).facts
    is_confirmed = FORMAT_OF[name.rpartition(".")[2]].tier == "Promised"
    assert facts.get("unverified") is (None if is_confirmed else True)
