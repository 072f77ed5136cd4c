"""Texts that are cut off are never read as if they were whole: a reason, or a fact says so."""

import pytest

from backend.processing.inspection import inspect
from tests.unit.processing import samples
from tests.unit.processing.cad import cube_step, sheet_iges
from tests.unit.processing.samples import Asset, facts_without_pictures
from tests.unit.processing.test_headers import DXF, FILES

TEXTS = {
    **{name: FILES[name] for name in ("a.ply", "a.stl")},
    "a.dxf": DXF,
    "a.obj": samples.cube_obj(),
}


def _cuts(data: bytes) -> range:
    return range(len(data) // 3, len(data.rstrip()) - 1, max(1, len(data) // 60))


def test_a_text_that_is_cut_within_a_line_is_refused_or_reported() -> None:
    silent: list[str] = []
    for name, data in TEXTS.items():
        whole = facts_without_pictures(name, data)
        assert "refused" not in whole, (name, whole)
        assert "endsWithinLine" not in whole
        for at in _cuts(data):
            cut = data[:at]
            if cut.endswith(b"\n") and name == "a.obj":
                continue  # another file, which is whole
            facts = facts_without_pictures(name, cut)
            error = "refused" in facts or facts.get("endsWithinLine") is True
            if not error and facts != whole:
                silent.append(f"{name} {at}: {facts.get('triangles')}")
    assert silent == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_and_missing_ones_at_the_end_do_not_matter_to_end_marks(end: bytes) -> None:
    for name, data in TEXTS.items():
        whole = facts_without_pictures(name, data)
        for changed in (data.replace(b"\n", end), data.replace(b"\n", end).rstrip()):
            facts = facts_without_pictures(name, changed)
            facts.pop("endsWithinLine", None)
            assert facts == whole, (name, end)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2", "ends within an element (f)"),
        ("a.stl", FILES["a.stl"].replace(b"endsolid", b""), "does not end with endsolid"),
        ("a.dxf", DXF.rstrip()[:-3], "does not end with EOF"),
    ],
)
def test_the_reason_names_what_is_missing(name: str, data: bytes, reason: str) -> None:
    assert reason in str(facts_without_pictures(name, data).get("refused"))


def test_cad_files_that_are_cut_doubled_or_zeroed_are_refused_or_whole() -> None:
    found: dict[str, object] = {}
    for name, data in {"a.step": cube_step(), "a.igs": sheet_iges()}.items():
        whole = inspect(name, data, Asset())
        assert whole.refused is None, (name, whole.refused)
        broken = {f"cut {part}": data[: len(data) * part // 10] for part in (1, 3, 5, 7, 9)}
        broken |= {f"doubled {size}": data[:size] + data for size in (16, 64)}
        broken |= {f"zeroed {size}": bytes(size) + data[size:] for size in (4, 16, 64)}
        for kind, content in broken.items():
            result = inspect(name, content, Asset())
            if result.refused is None and result.facts != whole.facts:
                found[f"{name} {kind}"] = result.facts
            if kind.startswith("cut") and result.refused is None:
                found[f"{name} {kind}"] = "read"
    assert found == {}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_marks_and_line_ends_of_cad_files_change_nothing(end: bytes) -> None:
    for name, data in {"a.step": cube_step(), "a.igs": sheet_iges()}.items():
        whole = inspect(name, data, Asset())
        for mark in (b"", b"\xef\xbb\xbf"):
            result = inspect(name, mark + data.replace(b"\n", end), Asset())
            assert (result.refused, result.facts) == (None, whole.facts), (name, mark, end)
