"""Reasons of refused documents are in the product's words; OpenSearch's text is in the log only."""

from typing import Any

import pytest

from backend.aws.document_refusals import refusal_of

ENGINE_WORDS = ("mapper", "parsing", "Preview", "SECRET", "exception", "[", "num_", "index.")


def error(kind: str, reason: str, cause: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "reason": reason}
    return found | ({"caused_by": {"type": "x_exception", "reason": cause}} if cause else {})


@pytest.mark.parametrize(
    ("status", "found", "fact"),
    [
        (
            400,
            error(
                "mapper_parsing_exception",
                "failed to parse field [num_filesize] of type [long]. Preview of value: 'SECRET'",
                "For input string: SECRET",
            ),
            "a value that the mapping of its field does not accept",
        ),
        (
            400,
            error(
                "strict_dynamic_mapping_exception",
                "mapping set to strict, dynamic introduction of [SECRET] within [_doc] is denied",
            ),
            "a field that the mapping does not declare",
        ),
        (
            400,
            error(
                "mapper_parsing_exception",
                "The number of nested documents has exceeded the allowed limit of [10000]. This "
                "limit can be set by changing the [index.mapping.nested_objects.limit] setting.",
            ),
            "more nested documents than the index allows",
        ),
        (
            400,
            error("illegal_argument_exception", "Limit of total fields [1000] has been exceeded"),
            "more fields than the index allows",
        ),
        (
            400,
            error(
                "illegal_argument_exception",
                'Document contains at least one immense term in field="SECRET"',
                "bytes can be at most 32766 in length",
            ),
            "a text that is too long",
        ),
        (413, error("content_too_long", "SECRET"), "too large"),
        (400, error("some_new_exception", "SECRET num_x"), "the log has the reason"),
    ],
)
def test_a_refusal_is_a_class_without_words_of_the_engine(
    status: int, found: dict[str, Any], fact: str
) -> None:
    reason = refusal_of(status, found)
    assert fact in reason
    assert [word for word in ENGINE_WORDS if word in reason] == []
