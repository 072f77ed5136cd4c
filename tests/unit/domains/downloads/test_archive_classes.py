"""Files that S3 keeps in an archive class: their facts are read, and their bytes refused."""

import json

from tests.factories.files import BUCKET, gallery
from tests.unit.domains.files.changes import memory


def test_bytes_are_refused_until_they_are_restored() -> None:
    tables, objects = memory()
    museum = gallery(tables, objects)
    museum.put("/a.glb", b"points")
    assert museum.download(key="/a.glb").status == 200
    objects.archived.add((BUCKET, "statue/a.glb"))
    for answer in (museum.download(key="/a.glb"), museum.stream("a.glb")):
        assert answer.status == 409
        assert b"FileNotRestored" in json.dumps(answer.body).encode()
    assert museum.stream("a.glb", method="HEAD").status == 200
