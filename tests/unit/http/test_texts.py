"""Texts in bodies: any lines that people write are accepted, control characters are refused."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from backend.core.errors import InvalidInputError
from backend.entrypoints.openapi import bindings, openapi
from backend.http.bodies import validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec import routes
from backend.spec.routes import Route

LOOKED_UP = {
    *("defaultBucketId", "startingToken", "files.0.uploadIdS3", "files.0.parts.0.ETag"),
    *("query", "metadataQuery", "after", "sort.0.type", "documents.0.path", "documents.0.key"),
}
"""Fields that are compared with stored values, and are not stored themselves."""
VALUES = {
    "metadata.0.metadataValue",
    "fields.fields.0.controlledListKeys.0",
    "fields.fields.0.defaultMetadataFieldValue",
}
"""Values of metadata are documents of any kind, and text that was found in files."""

DOCUMENT = openapi()


class CorruptBody(NamedTuple):
    """A body with U+0000 in one of its texts, and the path of that field."""

    binding: Binding
    field: str
    body: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.binding.route.key} {self.field}"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, or the first of those that it names."""
    if "anyOf" in schema:
        return resolved(schema["anyOf"][0])
    if "$ref" in schema:
        return DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def spoilt(schema: dict[str, Any], example: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """The paths of texts, each with the example as it is with U+0000 in that text."""
    whole = resolved(schema)
    match whole.get("type"):
        case "string":
            yield ".".join(path), "ab\u0000cd"
        case "array":
            first = example[0] if example else None
            for field, value in spoilt(whole["items"], first, *path, "0"):
                yield field, [value]
        case _:
            given: dict[str, Any] = example or {}
            for name, one in whole.get("properties", {}).items():
                for field, value in spoilt(one, given.get(name), *path, name):
                    yield field, {**given, name: value}


def bodies() -> Iterator[CorruptBody]:
    for binding in bindings():
        if "body" in binding.models:
            route = binding.route
            operation = DOCUMENT["paths"][document_path(route)][route.method.lower()]
            found = operation["requestBody"]["content"]["application/json"]
            for field, body in spoilt(found["schema"], found["example"]):
                yield CorruptBody(binding, field, body)


BODIES = list(bodies())
WRITTEN = [each for each in BODIES if each.field not in LOOKED_UP | VALUES]


def test_no_text_that_is_stored_may_hold_a_nul(subtests: pytest.Subtests) -> None:
    for spoilt in WRITTEN:
        with subtests.test(str(spoilt)):
            with pytest.raises(InvalidInputError) as refused:
                validate(spoilt.binding.models["body"], spoilt.body, strict=True)
            assert spoilt.field in [each.field for each in refused.value.fields]


@pytest.mark.parametrize(
    ("route", "field"),
    [
        (routes.CREATE_DATABASE, "description"),
        (routes.UPDATE_DATABASE, "description"),
        (routes.CREATE_ASSET, "description"),
        (routes.UPDATE_ASSET, "description"),
        (routes.INGEST_ASSET, "description"),
        (routes.CREATE_ASSET_VERSION, "comment"),
        (routes.UPDATE_ASSET_VERSION, "comment"),
        (routes.REVERT_ASSET_VERSION, "comment"),
        (routes.CREATE_COMMENT, "commentBody"),
        (routes.UPDATE_COMMENT, "commentBody"),
        (routes.CREATE_TAG, "description"),
        (routes.CREATE_TAG_TYPE, "description"),
        (routes.CREATE_ROLE, "description"),
        (routes.CREATE_API_KEY, "description"),
        (routes.CREATE_CONSTRAINT, "description"),
    ],
)
def test_blanks_alone_are_refused(route: Route, field: str) -> None:
    model = next(each.models["body"] for each in bindings() if each.route is route)
    with pytest.raises(InvalidInputError) as refused:
        validate(model, {field: "     "}, strict=True)
    assert field in [each.field for each in refused.value.fields]


def test_every_exception_is_a_field_of_a_body_and_others_refuse_control_characters() -> None:
    assert {each.field for each in BODIES} >= LOOKED_UP | VALUES
    wrong: list[str] = []
    for spoilt in WRITTEN:
        for control in "\0", "\n":
            body = json.loads(json.dumps(spoilt.body).replace("\\u0000", json.dumps(control)[1:-1]))
            if PROSE.search(spoilt.field) or spoilt.binding.route.domain == "search":
                continue
            with pytest.raises(InvalidInputError) as refused:
                validate(spoilt.binding.models["body"], body, strict=True)
            error = [each.message for each in refused.value.fields if each.field == spoilt.field]
            if not error or "line breaks" in error[0]:
                wrong.append(f"{spoilt}: {control!r}: {error}")
    assert not wrong, "\n".join(wrong)


PROSE = re.compile(r"(^|\.)(description|comment|commentBody|reason|inputParameters|\w+Resource)$")
"""Prose and JSON, which may have line breaks."""
