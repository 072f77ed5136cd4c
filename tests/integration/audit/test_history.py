"""Entries match the changes that were made, on real engines, under concurrency."""

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from backend.core.errors import ConflictError, RevisionConflictError
from backend.core.paging import PageRequest
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import Entry, StoredValue, audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.queries import AuditTrail
from backend.domains.metadata.models import Entity, NewRecord
from backend.domains.metadata.service.commands import MetadataService
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN
from tests.factories.audit import ARCHIVE
from tests.integration.audit.conftest import Place

STATUE = Entity("museum", "statue")
LARGE = 6000
"""Length of a value that is too large for an entry."""
EDITORS, EDITS = 6, 8


def trail(place: Place) -> AuditTrail:
    archive = AuditArchive(place.objects, lambda: ARCHIVE)
    return AuditTrail(AuditRepository(place.tables), archive, OnlyUser())


def entries(place: Place, operation: str) -> list[Entry]:
    name = audit_entity("asset", "museum", "statue")
    found: list[Entry] = []
    page = trail(place).list_of_entity(ADMIN, name, PageRequest(20))
    found += page.items
    while page.after is not None:
        page = trail(place).list_of_entity(ADMIN, name, PageRequest(20, page.after))
        found += page.items
    return [entry for entry in found if entry.operation == operation]


def side(place: Place, entry: Entry, inline: Any, stored: StoredValue | None) -> str:
    """One side of a change as text, wherever it is stored."""
    if stored is not None:
        at = datetime.fromisoformat(entry.at.partition("#")[0])
        inline = trail(place).get_value(ADMIN, stored.sha256, entity=entry.entity, at=at)[1]
    return json.dumps(inline, sort_keys=True)


def followed(place: Place, made: Iterable[Entry], field: str) -> list[str]:
    """The values of a field in the order of their changes, each used once."""
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


def record(text: str) -> NewRecord:
    return NewRecord(metadata_key="note", metadata_value=text, metadata_value_type="string")
