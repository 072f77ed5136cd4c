"""Entries are what was done, on real engines: under concurrency, and when the writer is killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest

from backend.core.errors import ConflictError, RevisionConflictError
from backend.core.paging import PageRequest
from backend.domains.assets.models import Asset, UpdateAssetBody
from backend.domains.assets.service import AssetService
from backend.domains.audit.models import Entry, StoredValue, asset_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.queries import AuditTrail
from backend.domains.metadata.models import Entity, NewRecord
from backend.domains.metadata.service.commands import MetadataService
from tests.engines import OPTIONS
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN
from tests.factories.audit import ARCHIVE
from tests.integration.audit.conftest import Place

STATUE = Entity("museum", "statue")
LARGE = 6000
"""Characters of a value that is too large for an entry."""
EDITORS, EDITS = 6, 8
ROUNDS = 4


def trail(place: Place) -> AuditTrail:
    archive = AuditArchive(place.objects, lambda: ARCHIVE)
    return AuditTrail(AuditRepository(place.tables), archive, OnlyUser())


def entries(place: Place, operation: str) -> list[Entry]:
    name = asset_entity("museum", "statue")
    found: list[Entry] = []
    page = trail(place).list_of_entity(ADMIN, name, PageRequest(20))
    found += page.items
    while page.after is not None:
        page = trail(place).list_of_entity(ADMIN, name, PageRequest(20, page.after))
        found += page.items
    return [entry for entry in found if entry.operation == operation]


def side(place: Place, entry: Entry, inline: Any, stored: StoredValue | None) -> str:
    """One side of a change as text, wherever it stands."""
    if stored is not None:
        at = datetime.fromisoformat(entry.at.partition("#")[0])
        inline = trail(place).get_value(ADMIN, stored.sha256, entity=entry.entity, at=at)[1]
    return json.dumps(inline, sort_keys=True)


def followed(place: Place, made: Iterable[Entry], field: str) -> list[str]:
    """A field's values in the order in which each replaced the one before, each used once."""
    changes = [(entry, entry.changes[field]) for entry in made]
    after: Mapping[str, str] = {
        side(place, entry, change.before, change.before_stored): side(
            place, entry, change.after, change.after_stored
        )
        for entry, change in changes
    }
    (first,) = set(after) - set(after.values())
    values = [first]
    while values[-1] in after:
        values.append(after[values[-1]])
    return values


def test_edits_of_one_asset_at_once_have_an_entry_each_that_follow_one_another(
    place: Place, assets: AssetService
) -> None:
    def edit(editor: int) -> int:
        done = 0
        for number in range(EDITS):
            body = UpdateAssetBody(description=f"edit {number} of {editor}")
            try:
                assets.update_asset(ADMIN, "museum", "statue", body)
                done += 1
            except RevisionConflictError:
                continue
        return done

    with ThreadPoolExecutor(EDITORS) as pool:
        done = sum(pool.map(edit, range(EDITORS)))
    found = assets.get_asset(ADMIN, "museum", "statue")
    made = entries(place, "update_asset")
    assert len(made) == done == found.revision - 1 > 0
    values = followed(place, made, "description")
    assert len(values) == done + 1
    assert json.loads(values[-1]) == found.description


def test_edits_of_one_record_at_once_have_an_entry_each_that_follow_one_another(
    place: Place, metadata: MetadataService
) -> None:
    def edit(editor: int) -> int:
        done = 0
        for number in range(EDITS):
            text = f"edit {number} of {editor}" + "x" * (LARGE if number % 2 else 0)
            try:
                metadata.change_metadata(ADMIN, STATUE, [record(text)])
                done += 1
            except ConflictError:
                continue
        return done

    with ThreadPoolExecutor(EDITORS) as pool:
        done = sum(pool.map(edit, range(EDITORS)))
    made = entries(place, "update_asset_metadata")
    assert len(made) == done > 0
    values = followed(place, made, "metadata.note")
    assert len(values) == done + 1
    (now,) = metadata.list_metadata(ADMIN, STATUE, PageRequest(10)).items
    assert json.loads(values[-1])["value"] == now.record.metadata_value


@pytest.mark.kills
def test_a_writer_that_is_killed_leaves_no_write_without_entry_and_none_without_write(
    place: Place, metadata: MetadataService
) -> None:
    for _ in range(ROUNDS):
        editor = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.audit.editor"],
            env=_environment(place),
            stdout=subprocess.PIPE,
        )
        assert editor.stdout is not None
        assert editor.stdout.readline(), "it did not begin"
        time.sleep(0.3)  # so that the kill comes at any place of an edit
        editor.kill()
        editor.wait()
        editor.stdout.close()
    found = settled(metadata.assets)
    assert len(entries(place, "update_asset")) == found.revision - 1 > 0
    made = entries(place, "update_asset_metadata")
    values = followed(place, made, "metadata.note")
    assert len(values) == len(made) + 1
    (now,) = metadata.list_metadata(ADMIN, STATUE, PageRequest(10)).items
    assert json.loads(values[-1])["value"] == now.record.metadata_value


def settled(assets: AssetService) -> Asset:
    """The asset when what its editor sent last is carried out: it stays as it is for a second."""
    found = assets.get_asset(ADMIN, "museum", "statue")
    while True:
        time.sleep(1)
        now = assets.get_asset(ADMIN, "museum", "statue")
        if now == found:
            return now
        found = now


def record(text: str) -> NewRecord:
    return NewRecord(metadata_key="note", metadata_value=text, metadata_value_type="string")


def _environment(place: Place) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(sys.path),
        **place.settings.environment,
        "AWS_ENDPOINT_URL_DYNAMODB": place.engines.url("dynamodb"),
        "AWS_ENDPOINT_URL_S3": place.engines.url("s3"),
        "AWS_ACCESS_KEY_ID": OPTIONS.access_key,
        "AWS_SECRET_ACCESS_KEY": OPTIONS.secret_key,
        "AWS_REGION": OPTIONS.region,
        "AWS_DEFAULT_REGION": OPTIONS.region,
    }
