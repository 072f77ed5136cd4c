"""Corrects a listing of moto, which omits the first version after a key marker."""

from collections.abc import Callable
from typing import Any

import pytest
from moto.s3.models import FakeDeleteMarker, S3Backend


def mend_key_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Include all versions in listings that begin after a key and name no version."""
    original: Callable[..., Any] = S3Backend.list_object_versions

    def listed(
        backend: S3Backend,
        bucket_name: str,
        delimiter: str | None = None,
        key_marker: str | None = None,
        max_keys: int | None = 1000,
        prefix: str = "",
        version_id_marker: str | None = None,
    ) -> Any:
        if key_marker is None or version_id_marker or delimiter:
            return original(
                backend, bucket_name, delimiter, key_marker, max_keys, prefix, version_id_marker
            )
        versions, _, markers, _, _ = original(backend, bucket_name, None, None, None, prefix)
        both = sorted(
            (item for item in (*versions, *markers) if item.name > key_marker),
            key=lambda one: (one.name, not one.is_latest),
        )
        page = both[:max_keys]
        more = len(both) > len(page)
        return (
            [item for item in page if not isinstance(item, FakeDeleteMarker)],
            [],
            [item for item in page if isinstance(item, FakeDeleteMarker)],
            page[-1].name if more else None,
            page[-1].version_id if more else None,
        )

    monkeypatch.setattr(S3Backend, "list_object_versions", listed)
