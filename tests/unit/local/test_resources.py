"""Names, secrets and custom resources: what is the same at every start."""

import string

from hypothesis import given
from hypothesis import strategies as st

from local import arns
from local.resources.secretsmanager import Generate, generate_password


@given(
    length=st.integers(8, 64),
    lower=st.booleans(),
    digits=st.booleans(),
    excluded=st.text(string.ascii_letters, max_size=5),
)
def test_a_password_has_the_required_characters(
    length: int, lower: bool, digits: bool, excluded: str
) -> None:
    generate = Generate(
        password_length=length,
        exclude_lowercase=lower,
        exclude_numbers=digits,
        exclude_punctuation=True,
        exclude_characters=excluded,
    )

    password = generate_password(generate)

    assert len(password) == length
    assert not set(password) & set(excluded)
    assert any(c.islower() for c in password) is not lower
    assert any(c.isdigit() for c in password) is not digits
    assert not set(password) & set(string.punctuation)


def test_bucket_names_are_valid_and_differ() -> None:
    long = "a-stack-with-a-name", "ALogicalIdThatIsLongerThanABucketsNameMayBeByFar"
    name = arns.bucket_name(*long)

    assert arns.bucket_name("Stack_1", "AssetBucket") == "stack-1-assetbucket"
    assert len(name) <= 63
    assert name == name.lower()
    assert name != arns.bucket_name(long[0], long[1] + "2")


def test_a_physical_name_keeps_to_the_limit() -> None:
    assert arns.physical_name("stack", "Function", limit=64) == "stack-Function"
    assert len(arns.physical_name("s" * 50, "f" * 50, limit=64)) == 64
    assert arns.stable_id("a", "b") == arns.stable_id("a", "b") != arns.stable_id("a", "c")
