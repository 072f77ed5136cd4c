"""Rules of names and texts, invisible characters, addresses, URLs of queues."""

import importlib
import pkgutil
import re
import sys
import unicodedata
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

import backend
from backend.core.addresses import is_local, is_public
from backend.core.invisible import check_visible
from backend.core.models import SentModel, WireModel, camel
from backend.core.names import AnyText, Description, ObjectName, RelativePath, Text, Words
from backend.core.queue_urls import QueuePlace, queue_place

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


def test_a_text_may_have_lines_and_tabs_and_no_other_control_character() -> None:
    for value in LINES:
        assert takes(TEXT, value)
        assert takes(DESCRIPTION, value)
    for control in CONTROLS:
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


JOINED = {
    "Persian": "می\u200cخواهم.glb",  # noqa: RUF001
    "Persian, with marks": "نمونه\u200cهای.ifc",  # noqa: RUF001
    "Hindi": "क्\u200dष.obj",
    "Sinhala": "ශ්\u200dරී",
    "Malayalam": "ന്\u200dറെ",
    "a family": "👨\u200d👩\u200d👧.png",
    "a heart on fire": "❤\ufe0f\u200d🔥",
    "a health worker": "🧑🏽\u200d⚕\ufe0f",
    "a rainbow flag": "🏳\ufe0f\u200d🌈",
    "the flag of Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "a keycap": "1\ufe0f\u20e3",
    "a variant of an ideograph": "葛\U000e0100飾区.las",
    "Mongolian": "ᠠ\u180bᠡ",
    "no joiner": "модель 模型 모델 النموذج.glb",
}
HIDDEN = {
    "a zero-width space": "a\u200bb",
    "a byte order mark": "\ufeffmodel.glb",
    "a word joiner": "a\u2060b",
    "a soft hyphen": "mo\u00addel",
    "a joiner between Latin letters": "mo\u200ddel",
    "a non-joiner between Latin letters": "mo\u200cdel",
    "a joiner at the end": "मॉडल\u200d",
    "a non-joiner after a letter that does not join": "دا\u200cb",
    "a joiner next to an unassigned code point": "\U0003fffd\u200d",
    "a joiner between an emoji and a letter": "🔥\u200da",
    "an override": "model\u202egpj.exe",
    "an isolate": "\u2067model\u2069",
    "a mark": "\u200fmodel",
    "an Arabic mark": "model\u061c",
    "a selector after a letter": "a\ufe0f",
    "a selector of variants after a letter": "a\U000e0100",
    "tags without a flag": "model\U000e0061\U000e007f",
    "a filler": "\u3164",
    "Braille without dots": "mo\u2800del",
    "an empty notehead": "mo\U0001d159del",
    "a line separator": "a\u2028b",
}


def test_what_shapes_a_name_is_allowed_and_what_hides_in_it_is_refused() -> None:
    for name in JOINED.values():
        assert check_visible(name) == name
    for name in HIDDEN.values():
        with pytest.raises(ValueError, match=r"must not contain the invisible character U\+"):
            check_visible(name)
    for name in (
        "Lion\u00a0",
        "Lion\u2003",
        "\u3000Lion",
        "\u202f",
        "/Lion\u2009/a.stl",
        "/\u1680a.stl",
    ):
        with pytest.raises(ValueError, match=r"must not begin or end with the blank U\+"):
            check_visible(name)
    for name in ("Screenshot at 9.41.00\u202fAM.png", "Lion\u00a0: front", "a\u3000b", " a"):
        assert check_visible(name) == name
    kinds = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    for point in range(sys.maxunicode + 1):
        char = chr(point)
        is_control = unicodedata.category(char) == "Cf" and unicodedata.bidirectional(char) in kinds
        if is_control and not 0x13430 <= point <= 0x1345F:  # those arrange visible hieroglyphs
            with pytest.raises(ValueError, match="invisible"):
                check_visible(f"model{char}.glb")


PRIVATE = [
    *("0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
    *("169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.2.1"),
    *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250"),
    *("240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:0:10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1"),
    *("64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1"),
    *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111"]


def test_an_address_is_public_only_on_the_internet_and_local_only_on_this_machine() -> None:
    assert [address for address in PRIVATE if is_public(address)] == []
    assert [address for address in PUBLIC if not is_public(address)] == []
    for url, local in (
        ("http://127.0.0.1:9/realm", True),
        ("http://[::1]/", True),
        ("http://localhost/", True),
        ("https://127.0.0.1/", False),
        ("http://127.0.0.1.example.org/", False),
        ("http://127.0.0.1@example.org/", False),
        ("http://10.0.0.1/", False),
    ):
        assert is_local(url) == local


AWS = "https://sqs.eu-west-1.amazonaws.com"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (f"{AWS}/123456789012/work", QueuePlace("eu-west-1", "123456789012", "work")),
        ("http://127.0.0.1:9324/123456789012/work", QueuePlace(None, "123456789012", "work")),
        ("http://localhost:1/a-path/123456789012/work", QueuePlace(None, "123456789012", "work")),
        (f"{AWS}/a-path/123456789012/work", None),
        ("http://localhost:1/a/path/123456789012/work", None),
        ("http://127.0.0.1:9324/work", None),
        (f"{AWS}.evil.example/123456789012/work", None),
        ("http://127.0.0.1.evil.example/123456789012/work", None),
        ("http://[", None),
    ],
)
def test_a_queue_is_named_by_its_host_and_the_end_of_its_path(
    url: str, place: QueuePlace | None
) -> None:
    assert queue_place(url) == place


def _all_fields() -> set[str]:
    for module in pkgutil.walk_packages(backend.__path__, "backend."):
        if ".models" in module.name:
            importlib.import_module(module.name)
    models, result = [WireModel], set[str]()
    while models:
        model = models.pop()
        models += model.__subclasses__()
        result |= {name for name, field in model.model_fields.items() if field.alias_priority != 2}
    return result


def test_a_field_is_named_in_camel_case_as_pydantic_would() -> None:
    fields = _all_fields()
    assert len(fields) > 200
    assert [name for name in fields if camel(name) != to_camel(name)] == []
    for name, on_the_wire in (("asset_id", "assetId"), ("etag", "etag"), ("is_a_b", "isAB")):
        assert camel(name) == on_the_wire


class _Part(SentModel):
    kind: str = "plain"


class _Sent(SentModel):
    name: str
    most_items: int = 3
    note: str | None = "none yet"
    anything: Any = 0
    parts: list[_Part] = []


def test_null_means_the_same_as_leaving_out_except_where_it_is_a_value() -> None:
    sent = {"name": "a", "mostItems": None, "parts": None}
    assert _Sent.model_validate(sent, strict=True) == _Sent(name="a")
    assert _Sent.model_validate({"name": "a", "most_items": None}) == _Sent(name="a")
    deeper = _Sent.model_validate({"name": "a", "parts": [{"kind": None}]})
    assert deeper.parts == [_Part(kind="plain")]
    validate = _Sent.model_validate({"name": "a", "note": None, "anything": None})
    assert (validate.note, validate.anything) == (None, None)
    with pytest.raises(ValidationError, match="valid string"):
        _Sent.model_validate({"name": None})
    validate = _Sent.model_json_schema()["properties"]
    null = {"type": "null"}
    assert validate["mostItems"]["anyOf"] == [{"type": "integer"}, null]
    assert validate["mostItems"]["default"] == 3
    assert (null in validate["note"]["anyOf"], "anyOf" in validate["name"]) == (True, False)
    replied = _Sent.model_json_schema(mode="serialization")["properties"]
    assert replied["mostItems"]["type"] == "integer"
