"""Tags of objects on the copies that changes of files make."""

from typing import Any, cast

import pytest

from backend.domains.files.service.companions import Companions
from backend.domains.files.service.target import FileTarget
from tests.factories.files import BUCKET, gallery
from tests.factories.quarantine import quarantine
from tests.unit.domains.files.changes import head_of, memory

PREVIEW = ".previewFile.png"
MOVE = {"sourcePath": "/a.glb", "destinationPath": "/parts/b.glb"}


@pytest.mark.parametrize("large_bytes", [1000, 1])
def test_a_copy_keeps_the_tags_of_users_and_not_that_of_a_scan(large_bytes: int) -> None:
    tables, objects = memory()
    museum = gallery(tables, objects, large_bytes=large_bytes)
    museum.put("/a.glb")
    scan = {"GuardDutyMalwareScanStatus": "NO_THREATS_FOUND"}
    objects.tag(BUCKET, "statue/a.glb", {"project": "x", "aws:service": "y", **scan})
    assert museum.change("POST", "moveFile", MOVE).status == 200
    version = head_of(objects, "/parts/b.glb").version
    assert objects.tags(BUCKET, version.key, version_id=version.version_id) == {"project": "x"}


def test_copies_of_previews_keep_the_tags_of_users() -> None:
    tables, objects = memory()
    museum = gallery(tables, objects)
    for path in ("/a.glb", f"/a.glb{PREVIEW}"):
        museum.put(path)
    objects.tag(BUCKET, f"statue/a.glb{PREVIEW}", {"project": "x"})
    records = cast("Any", None)  # previews have none
    companions = Companions(objects, records, quarantine(tables), "auxiliary")
    source, target = (
        FileTarget(museum.asset, BUCKET, "statue/", key) for key in ("statue/a.glb", "statue/b.glb")
    )
    companions.copy_previews(source, target, "one")
    copied = head_of(objects, f"/b.glb{PREVIEW}").version
    assert objects.tags(BUCKET, copied.key, version_id=copied.version_id) == {"project": "x"}
