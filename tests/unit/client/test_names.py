"""Names on the disk become names in Vitrine: always valid, always the same, quoted alike."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vitrine import InvalidNameError
from vitrine.quoting import quote_text
from vitrine.transfer import names
from vitrine.transfer.names import UnusableNameError
from vitrine.transport import path_of

ANY_NAME = st.text(min_size=1, max_size=300)
SEGMENTS = st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=5)


def is_storable(segment: str) -> bool:
    """The contract's rule for one name, implemented a second time."""
    bad = re.search(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\ud800-\udfff]', segment)
    shape = 1 <= len(segment) <= 255 and segment[-1] not in ". " and segment not in {".", ".."}
    return shape and not bad


@given(SEGMENTS)
def test_a_path_is_taken_exactly_when_every_segment_is_storable(segments: list[str]) -> None:
    composed = [unicodedata.normalize("NFC", segment) for segment in segments]
    if all(map(is_storable, composed)):
        assert names.relative_key(segments) == "/" + "/".join(composed)
    else:
        with pytest.raises(UnusableNameError):
            names.relative_key(segments)


@given(SEGMENTS)
def test_both_unicode_forms_of_a_path_are_one_path(segments: list[str]) -> None:
    forms: set[str] = set()
    for form in ("NFC", "NFD"):
        try:
            forms.add(
                names.relative_key([unicodedata.normalize(form, segment) for segment in segments])
            )
        except UnusableNameError as error:
            forms.add(str(error))
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("segments", "reason"),
    [
        (["folder", "a:b.glb"], "contains :"),
        (["folder", 'what?"*.obj'], 'contains " ? *'),
        (["folder", "back\\slash"], "contains \\"),
        (["folder", "dot."], "ends with a dot or a space"),
        (["folder", "blank "], "ends with a dot or a space"),
        (["folder", "bell\x07"], "control character U+0007"),
        (["folder", "\udcff.glb"], "not valid UTF-8"),
        (["folder", ".."], "'..' is not allowed"),
        (["folder", "x" * 256], "more than 255 characters"),
        ([], "empty"),
    ],
)
def test_a_name_that_cannot_be_stored_is_refused_with_the_reason(
    segments: list[str], reason: str
) -> None:
    with pytest.raises(UnusableNameError) as raised:
        names.relative_key(segments)
    assert reason in str(raised.value)


@given(ANY_NAME)
def test_every_folder_gets_a_valid_asset_id_object_name_and_database_id(folder: str) -> None:
    derived = names.asset_id("cars", folder)
    assert re.fullmatch(r"[a-zA-Z0-9][-_a-zA-Z0-9]{0,62}", derived)
    assert derived == names.asset_id("cars", unicodedata.normalize("NFD", folder))
    assert re.fullmatch(r"[a-zA-Z0-9\-._ ]{1,256}", names.object_name(folder))
    for name in ("", folder):
        database_id = names.database_id(name)
        assert re.fullmatch(r"[-_a-zA-Z0-9]{3,63}", database_id)
        assert database_id.upper() != "GLOBAL"


@given(ANY_NAME, ANY_NAME)
def test_different_folders_get_different_asset_ids(folder: str, other: str) -> None:
    same = unicodedata.normalize("NFC", folder) == unicodedata.normalize("NFC", other)
    assert (names.asset_id("cars", folder) == names.asset_id("cars", other)) == same


def test_names_of_folders_are_kept_where_they_are_valid_and_stay_apart() -> None:
    assert names.asset_id("a-b", "c") != names.asset_id("a", "b-c") != names.asset_id("a", "c")
    assert names.object_name("Old cars v1.2") == "Old cars v1.2"
    assert names.object_name("Möbel") != names.object_name("Mobel") == "Mobel"
    databases = {
        "cars": "cars",
        "Old cars (2)": "Old-cars-2",
        "Möbel": "Mobel",
        "a": "a-files",
        "漢字": "files",
        "global": "global-files",
        "x" * 70: "x" * 63,
    }
    assert {folder: names.database_id(folder) for folder in databases} == databases
    assert names.loose_asset_name("cars", ["bikes"]) == "cars"
    assert names.loose_asset_name("cars", ["cars", "cars-files"]) == "cars-files-files"
    assert names.loose_asset_name("", []) == "files"


def test_names_that_no_url_can_have_are_in_no_request_and_all_are_quoted_alike() -> None:
    for segment in ("", ".", ".."):
        with pytest.raises(InvalidNameError, match="must not be"):
            path_of("database", segment, "assets")
    assert path_of("...", "a..b", "../x") == "/.../a..b/..%2Fx"
    quoted = {
        "it's": "'it's'",
        'a"b': "'a\"b'",
        "a\nb\x00": r"'a\u000ab\u0000'",
        "ü\udc80": r"'ü\udc80'",
    }
    assert {text: quote_text(text) for text in quoted} == quoted
