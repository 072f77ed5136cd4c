"""The rules of texts."""

import re
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from backend.core.names import AnyText, Description, ObjectName, RelativePath, Text, Words

TEXT: TypeAdapter[str] = TypeAdapter(Text)
WORDS: TypeAdapter[str] = TypeAdapter(Words)
DESCRIPTION: TypeAdapter[str] = TypeAdapter(Description)
NAME: TypeAdapter[str] = TypeAdapter(ObjectName)
SHORT: TypeAdapter[str] = TypeAdapter(Annotated[Text, Field(max_length=5)])
LINES = ["one\ntwo", "one\r\ntwo\r\n", "col\tumn", "naïve 東京 🏛", "a\u0085b\u2028c"]
CONTROLS = [chr(n) for n in (*range(32), *range(127, 160)) if chr(n) not in "\t\n\r\u0085"]


def takes(adapter: TypeAdapter[str], value: str) -> bool:
    try:
        return adapter.validate_python(value) == value
    except ValidationError:
        return False


@pytest.mark.parametrize("value", LINES)
def test_a_text_may_have_lines_and_tabs(value: str) -> None:
    assert takes(TEXT, value)
    assert takes(DESCRIPTION, value)


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_a_text_holds_no_other_control_character(control: str) -> None:
    for adapter in (TEXT, DESCRIPTION):
        with pytest.raises(ValidationError, match="control characters other than tabs"):
            adapter.validate_python(f"some{control}text")


@pytest.mark.parametrize(
    "adapter", [TEXT, DESCRIPTION, SHORT], ids=["text", "description", "short"]
)
def test_the_document_shows_which_texts_are_taken(adapter: TypeAdapter[str]) -> None:
    pattern = adapter.json_schema()["pattern"]
    assert [value for value in LINES if not re.search(pattern, value)] == []
    assert [value for value in CONTROLS if re.search(pattern, f"a{value}b")] == []


@pytest.mark.parametrize("blanks", ["    ", "\n\t \r\n", "\u2003\u3000\u00a0\u2028"], ids=ascii)
def test_required_texts_must_contain_more_than_blanks(blanks: str) -> None:
    for adapter in (WORDS, DESCRIPTION):
        with pytest.raises(ValidationError, match="must contain more than spaces"):
            adapter.validate_python(blanks)
        assert takes(adapter, f"{blanks}said{blanks}")
    assert takes(TEXT, blanks)


@given(st.characters())
def test_a_name_has_the_characters_that_the_document_allows(char: str) -> None:
    pattern = NAME.json_schema()["pattern"]
    assert takes(NAME, f"a{char}b") == bool(re.fullmatch(pattern, f"a{char}b"))


@pytest.mark.parametrize(
    "blank", ["\u00a0", "\u2003", "\u2028", "\u3000", "\t", "\n", "\x1c"], ids=ascii
)
def test_a_blank_of_a_name_is_the_one_of_the_keyboard(blank: str) -> None:
    assert takes(NAME, "art works")
    assert not takes(NAME, f"art{blank}works")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_no_text_of_ours_may_be_any(value: str) -> None:
    assert takes(TypeAdapter(AnyText), value)


PATHS = {
    "/s0/": "names a folder",
    "s0/": "names a folder",
    "/a/b/": "names a folder",
    "/": "names the asset's folder",
    "/a//b": "empty segment",
    "/a//": "empty segment",
    "//": "empty segment",
}


def test_a_path_that_names_no_file_is_refused_with_what_it_names() -> None:
    paths: TypeAdapter[str] = TypeAdapter(RelativePath)
    for path, fact in PATHS.items():
        with pytest.raises(ValidationError, match=fact):
            paths.validate_python(path)
