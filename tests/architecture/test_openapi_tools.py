"""The OpenAPI document is accepted by tools of others: a validator, linters, client generators."""

import re
from collections import Counter
from itertools import combinations

from openapi_spec_validator import OpenAPIV31SpecValidator

from backend.entrypoints.openapi import openapi

DOCUMENT = openapi()
PATHS = list(DOCUMENT["paths"])
_OF_ASSET = "/database/{databaseId}/assets/{assetId}/workflows"
AMBIGUOUS = {("/asset-links/single/{assetLinkId}", "/asset-links/{assetLinkId}/metadata")}
"""Pairs of paths of the contract that one request could match; servers prefer fixed segments."""


def test_the_document_is_valid() -> None:
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_the_document_names_a_server() -> None:
    assert [server["url"] for server in DOCUMENT["servers"]] == ["/"]


def test_paths_differ_in_more_than_the_names_of_parameters() -> None:
    shapes = Counter(re.sub(r"{\w+}", "{}", path) for path in PATHS)
    assert [shape for shape, count in shapes.items() if count > 1] == []


def test_only_pairs_of_the_contract_are_ambiguous() -> None:
    result = {pair for pair in combinations(sorted(PATHS), 2) if _may_meet(*pair)}
    assert result == AMBIGUOUS


def _may_meet(one: str, other: str) -> bool:
    """Return whether a request may match both paths, and neither is more specific."""
    pairs = list(zip(one.split("/"), other.split("/"), strict=False))
    fits = one.count("/") == other.count("/") and all(a == b or "{" in a + b for a, b in pairs)
    looser = any("{" in a and "{" not in b for a, b in pairs)
    tighter = any("{" not in a and "{" in b for a, b in pairs)
    return fits and looser and tighter
