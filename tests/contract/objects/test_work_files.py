"""The contract of the port of objects as files, on all supported stores."""

from pathlib import Path

import pytest

from backend.aws.objects import S3Objects
from backend.aws.work_files import S3WorkFiles
from backend.core.errors import NotFoundError
from backend.core.objects import ObjectHead
from backend.core.work_files import WorkFiles
from tests.contract.objects.conftest import Store

pytestmark = pytest.mark.parametrize("store", ["moto", "versitygw"], indirect=True)

KEY = "a/ä b+%.bin"


@pytest.fixture
def files(store: Store) -> WorkFiles:
    assert isinstance(store.objects, S3Objects)
    return S3WorkFiles(store.objects.client)


def put(store: Store, key: str, body: bytes) -> str:
    kind = "application/octet-stream"
    return store.objects.put(store.bucket, key, body, content_type=kind, metadata={}).version_id


def test_a_version_is_downloaded(store: Store, files: WorkFiles, tmp_path: Path) -> None:
    first = put(store, KEY, b"first")
    put(store, KEY, b"second version")
    path = tmp_path / "file"
    files.download(store.bucket, KEY, first, path)
    assert path.read_bytes() == b"first"
    files.download(store.bucket, KEY, None, path)
    assert path.read_bytes() == b"second version"
    assert files.size(store.bucket, KEY, first) == 5
    assert files.size(store.bucket, KEY, None) == 14


def test_what_is_absent_is_not_found(store: Store, files: WorkFiles, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        files.download(store.bucket, KEY, None, tmp_path / "file")
    with pytest.raises(NotFoundError):
        files.size(store.bucket, KEY, None)


def test_sizes_are_of_the_objects_below_a_prefix(store: Store, files: WorkFiles) -> None:
    for key in ("a/x.obj", "a/deep/y.png", "ab/z.png"):
        put(store, key, key.encode())
    sizes = files.sizes(store.bucket, "a/", most=100)
    assert sizes == {"x.obj": 7, "deep/y.png": 12}


def test_a_file_is_uploaded_with_its_type(store: Store, files: WorkFiles, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    files.upload(path, store.bucket, KEY, content_type="model/gltf-binary")
    head = store.objects.head(store.bucket, KEY)
    assert isinstance(head, ObjectHead)
    assert (head.version.size, head.content_type) == (7, "model/gltf-binary")
