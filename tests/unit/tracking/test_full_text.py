"""The tokens that a LIKE requires are among those of every text that it matches."""

from hypothesis import given
from hypothesis import strategies as st
from vitrine_mlflow import keys
from vitrine_mlflow.comparisons import COMPARISONS, ascii_lower
from vitrine_mlflow.encoding import SORT_KEY_BYTES
from vitrine_mlflow.expressions import key_of
from vitrine_mlflow.full_text import (
    MANY,
    MOST_TOKENS,
    TRIGRAM,
    WORD,
    Token,
    holder_of_experiment,
    holder_of_model,
    holder_of_run,
    required_trigrams,
    required_words,
    tokens_of,
    tokens_of_run,
    trigrams,
)

CHARACTERS = st.characters(exclude_categories=["Cs"])
FEW = st.sampled_from("abAB #%-éÉ.1")
TEXT = st.text(FEW, max_size=30) | st.text(CHARACTERS, max_size=60)


@st.composite
def text_and_pattern(draw: st.DrawFn) -> tuple[str, str, str]:
    """A text, a comparator and a pattern that matches the text."""
    text, comparator = draw(TEXT), draw(st.sampled_from(["LIKE", "ILIKE"]))
    pattern = "".join(draw(st.sampled_from([char, char, char, "_", "%"])) for char in text)
    if comparator == "ILIKE":
        pattern = "".join(char.swapcase() if char.isascii() else char for char in pattern)
    return text, comparator, draw(st.sampled_from(["", "%"])) + pattern


@given(text_and_pattern())
def test_a_matching_text_has_all_that_the_pattern_requires(drawn: tuple[str, str, str]) -> None:
    text, comparator, pattern = drawn
    assert COMPARISONS[comparator](text, pattern)
    tokens = tokens_of_run(text)
    words = [token.text for token in tokens if token.level == WORD]
    if MANY in tokens:
        return
    for trigram in required_trigrams(comparator, pattern):
        assert Token(TRIGRAM, trigram) in tokens
    for start in required_words(pattern):
        assert any(word.startswith(start) for word in words)


@given(TEXT)
def test_an_equal_text_has_all_its_trigrams(text: str) -> None:
    assert required_trigrams("=", text) == trigrams(text)


def test_what_a_pattern_requires() -> None:
    assert required_trigrams("LIKE", "%Abcd_ef%ghi") == ["abc", "bcd", "ghi"]
    assert required_trigrams("LIKE", "%ab%") == []
    assert required_trigrams("!=", "abc") == []
    assert required_words("ab c%d%-Ef_g") == ["ab", "c", "ef"]


@given(TEXT | st.text(CHARACTERS, min_size=48, max_size=200))
def test_a_text_has_at_most_so_many_tokens(text: str) -> None:
    assert len(tokens_of(text)) <= MOST_TOKENS
    assert len(tokens_of_run(text)) <= MOST_TOKENS


def test_a_text_with_too_many_trigrams_has_one_token_that_is_no_trigram() -> None:
    assert tokens_of("".join(map(chr, range(0x4E00, 0x4E00 + MOST_TOKENS + 2)))) != {MANY}
    assert tokens_of("".join(map(chr, range(0x4E00, 0x4E00 + MOST_TOKENS + 3)))) == {MANY}
    assert len(MANY.text) != 3


@given(st.text(CHARACTERS, min_size=1, max_size=300))
def test_rows_are_parsed_to_their_tokens_and_fit_into_keys(name: str) -> None:
    tokens = tokens_of_run(name)
    holders = [
        holder_of_experiment("7"), holder_of_model("default", name),
        holder_of_model("team#a", name), holder_of_run("7", "abc"),
    ]  # fmt: skip
    for holder in holders:
        rows = [put.item for put in holder.puts(tokens)]
        assert [key_of(row) for row in rows] == [removal.key for removal in holder.deletes(tokens)]
        parsed = [keys.parse(key_of(row)) for row in rows]
        assert {Token(fields["level"], fields["token"]) for _, fields in parsed} == tokens
        names = {entity.name for entity, _ in parsed}
        assert names <= {holder.forward.name, holder.reverse.name}
        assert all(len(key_of(row).sk.encode()) <= SORT_KEY_BYTES for row in rows)
        assert all(len(row.get("gsi2sk", "").encode()) <= SORT_KEY_BYTES for row in rows)


def test_only_ascii_letters_lose_their_case() -> None:
    assert ascii_lower("AÉaé") == "aÉaé"
    assert trigrams("AÉB") == ["aÉb"]
