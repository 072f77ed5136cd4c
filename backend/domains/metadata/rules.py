"""Which keys and sizes of metadata fit. Pure. (What a value may be is in `core`.)"""

from collections.abc import Mapping

from backend.core.errors import InvalidInputError, TooLargeError
from backend.core.names import MAX_KEY_BYTES
from backend.domains.metadata.models import Kind
from backend.spec.keys import FILE, SNAPSHOT, SORT_KEY_BYTES

ITEM_BYTES = 400 * 1024  # DynamoDB's


def check_composite_keys(database_id: str, asset_id: str, path: str) -> None:
    """Refuse a path whose composite key does not fit DynamoDB's sort key.

    Raises:
        InvalidInputError: naming `filePath`.
    """
    size = len(FILE.build(database_id, asset_id, path).encode())
    if size > SORT_KEY_BYTES:
        raise InvalidInputError.of(
            "filePath", f"makes a key of {size} bytes, at most {SORT_KEY_BYTES} are taken"
        )


def check_snapshot_key(kind: Kind, path: str, key: str, *, field: str) -> None:
    """Refuse a key that a version of the asset could not keep beside this path.

    Raises:
        InvalidInputError: naming the field.
    """
    size = len(SNAPSHOT.build(kind, path, key).encode())
    if size > SORT_KEY_BYTES:
        raise InvalidInputError.of(
            field, f"makes, with the path, a key of {size} bytes, at most {SORT_KEY_BYTES} fit"
        )


def check_item_size(item: Mapping[str, str], *, field: str) -> None:
    """Refuse a record that DynamoDB would refuse.

    Raises:
        TooLargeError: naming the field.
    """
    size = sum(len(name.encode()) + len(text.encode()) for name, text in item.items())
    if size > ITEM_BYTES:
        raise TooLargeError(f"{field}: the record has {size} bytes, at most {ITEM_BYTES} are taken")


def check_object_key(prefix: str, path: str) -> str:
    """The S3 key of a file.

    Raises:
        InvalidInputError: naming `filePath`; S3 takes no key of that length.
    """
    key = prefix + path.lstrip("/")
    size = len(key.encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError.of(
            "filePath", f"makes an S3 key of {size} bytes, at most {MAX_KEY_BYTES} are taken"
        )
    return key
