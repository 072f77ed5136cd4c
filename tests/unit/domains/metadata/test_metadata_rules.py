"""Limits of the keys and items that metadata becomes part of."""

import pytest

from backend.core.errors import InvalidInputError, TooLargeError
from backend.domains.metadata.rules import (
    check_composite_keys,
    check_largest_row,
    check_object_key,
    check_snapshot_key,
)


def test_what_does_not_fit_a_key_or_an_item_names_its_field() -> None:
    check_composite_keys("db1", "a", "/" + "x" * 1017)
    with pytest.raises(InvalidInputError, match="filePath"):
        check_composite_keys("db1", "a", "/" + "x" * 1018)
    check_snapshot_key("metadata", "/a", "k" * 256, field="metadata.0.metadataKey")
    with pytest.raises(InvalidInputError, match=r"metadata\.0\.metadataKey"):
        check_snapshot_key("metadata", "/" + "x" * 800, "k" * 256, field="metadata.0.metadataKey")
    assert check_object_key("vault/a/", "/b/c.glb") == "vault/a/b/c.glb"
    with pytest.raises(InvalidInputError, match="filePath"):
        check_object_key("vault/", "/" + "x" * 1020)
    check_largest_row("notes", 409_600, field="value")
    with pytest.raises(TooLargeError, match="value: the record 'notes' has 409601 bytes"):
        check_largest_row("notes", 409_601, field="value")
