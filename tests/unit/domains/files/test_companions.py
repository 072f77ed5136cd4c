"""Data that moves with a file, also if the step is repeated."""

from typing import Any, cast

from backend.domains.files.service.companions import Companions
from backend.domains.files.service.target import FileTarget
from tests.factories.files import BUCKET, gallery
from tests.factories.quarantine import quarantine
from tests.unit.domains.files.changes import memory

PREVIEW = ".previewFile.png"


def test_a_repeated_step_copies_no_preview_again() -> None:
    tables, objects = memory()
    museum = gallery(tables, objects)
    for path in ("/a.glb", f"/a.glb{PREVIEW}"):
        museum.put(path)
    records = cast("Any", None)  # previews have none
    companions = Companions(objects, records, quarantine(tables), "auxiliary")
    source, target = (
        FileTarget(museum.asset, BUCKET, "statue/", key) for key in ("statue/a.glb", "statue/b.glb")
    )

    def versions_after(change: str) -> int:
        companions.copy_previews(source, target, change)
        return len(objects.list_versions(BUCKET, f"statue/b.glb{PREVIEW}").versions)

    assert [versions_after(change) for change in ("one", "one", "another")] == [1, 1, 2]
