"""Which invisible characters a name may hold."""

import sys
import unicodedata

import pytest

from backend.core.invisible import check_visible

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


@pytest.mark.parametrize("name", JOINED.values(), ids=JOINED)
def test_what_shapes_a_name_is_allowed(name: str) -> None:
    assert check_visible(name) == name


@pytest.mark.parametrize("name", HIDDEN.values(), ids=HIDDEN)
def test_what_hides_in_a_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"must not contain the invisible character U\+"):
        check_visible(name)


@pytest.mark.parametrize(
    "name",
    ["Lion\u00a0", "Lion\u2003", "\u3000Lion", "\u202f", "/Lion\u2009/a.stl", "/\u1680a.stl"],
    ids=ascii,
)
def test_a_name_neither_begins_nor_ends_with_a_blank_that_is_not_seen(name: str) -> None:
    with pytest.raises(ValueError, match=r"must not begin or end with the blank U\+"):
        check_visible(name)


def test_blanks_between_letters_are_allowed() -> None:
    for name in ("Screenshot at 9.41.00\u202fAM.png", "Lion\u00a0: front", "a\u3000b", " a"):
        assert check_visible(name) == name


def test_every_bidirectional_control_is_refused() -> None:
    kinds = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}
    for point in range(sys.maxunicode + 1):
        char = chr(point)
        is_control = unicodedata.category(char) == "Cf" and unicodedata.bidirectional(char) in kinds
        if is_control and not 0x13430 <= point <= 0x1345F:  # those arrange visible hieroglyphs
            with pytest.raises(ValueError, match="invisible"):
                check_visible(f"model{char}.glb")
