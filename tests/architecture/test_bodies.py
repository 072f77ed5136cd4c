"""Every field of every body is required, typed and bounded, or is listed here as an exception."""

from typing import Any

import pytest

from backend.core.errors import InvalidInputError
from backend.entrypoints.openapi import bindings, openapi
from backend.http.bodies import validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec.routes import ARCHIVE_ASSET, ARCHIVE_ASSET_VERSION, DELETE_DATABASE

PATHS = openapi()["paths"]
FIELDS = [
    (binding, field.alias or name, field)
    for binding in bindings()
    if "body" in binding.models
    for name, field in binding.models["body"].model_fields.items()
]
DEMANDED = [(binding, name) for binding, name, field in FIELDS if field.is_required()]
CHECKED_LATER = {
    "POST /assets bucketExistingKey": "the path of a folder, by the rules of paths",
    "POST /database/{databaseId}/assets/{assetId}/download key": "as bucketExistingKey",
    "POST /database/{databaseId}/assets/{assetId}/export startingToken": "by its signature",
}
"""Texts without a maximum length of their own."""
TAKES_ANYTHING = {"POST /search operation"}
TAKES_ANY_LIST = {"POST /search tokens"}
"""Fields of older clients, which are ignored."""
TAKE_NO_NULL = {
    f"{ARCHIVE_ASSET.key} confirmArchive",
    f"{ARCHIVE_ASSET_VERSION.key} confirmArchiveAsset",
    f"{DELETE_DATABASE.key} confirmPermanentDelete",
}
"""Fields that confirm an operation: clients must send them, or omit them; null is refused."""
WRONG: tuple[Any, ...] = ({"unexpected": []}, [["x"]])
LONG = "x" * 300_000


def example(binding: Binding) -> dict[str, Any]:
    operation = PATHS[document_path(binding.route)][binding.route.method.lower()]
    return operation["requestBody"]["content"]["application/json"]["example"]


def named(binding: Binding, body: dict[str, Any]) -> set[str]:
    """The top-level fields without which a body is refused."""
    try:
        validate(binding.models["body"], body, strict=True)
    except InvalidInputError as refused:
        return {each.field.split(".")[0] for each in refused.fields}
    return set()


@pytest.mark.parametrize(
    ("binding", "name"),
    [pytest.param(*each, id=f"{each[0].route.key} {each[1]}") for each in DEMANDED],
)
def test_a_field_that_is_demanded_and_lacks_is_named(binding: Binding, name: str) -> None:
    body = {field: value for field, value in example(binding).items() if field != name}
    assert name in named(binding, body)


def test_a_field_of_a_wrong_type_is_named() -> None:
    taken: set[str] = set()
    for wrong in WRONG:
        for binding, name, _ in FIELDS:
            if name not in named(binding, {**example(binding), name: wrong}):
                taken.add(f"{binding.route.key} {name}")
    assert taken == TAKES_ANYTHING | TAKES_ANY_LIST


def test_a_text_that_is_too_long_is_named() -> None:
    taken = {
        f"{binding.route.key} {name}"
        for binding, name, _ in FIELDS
        if name not in named(binding, {**example(binding), name: LONG})
    }
    assert taken == {*CHECKED_LATER, *TAKES_ANYTHING}


def test_null_means_the_same_as_leaving_out_in_the_requests_of_vams() -> None:
    """Clients of VAMS send null for fields without a value."""
    refused: set[str] = set()
    for binding, name, field in FIELDS:
        if not (binding.route.ours or field.is_required()):
            sent = example(binding)
            there = named(binding, {each: sent[each] for each in sent if each != name})
            if name in named(binding, {**sent, name: None}) - there:
                refused.add(f"{binding.route.key} {name}")
    assert refused == TAKE_NO_NULL
