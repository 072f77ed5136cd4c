"""Translates S3's errors about one object."""

from collections.abc import Generator
from contextlib import contextmanager

from botocore.exceptions import ClientError

from backend.aws.errors import NOT_RESTORED, code_of, translated
from backend.core.errors import NotFoundError
from backend.core.objects import NotRestoredError, ObjectRefusedError

ABSENT = frozenset({"404", "NoSuchKey", "NoSuchVersion", "NotFound"})
NOT_BY_HEAD = frozenset({"400", "405", "MethodNotAllowed"})
"""Error codes of a HEAD request with an invalid version id, or with the version id of a delete
marker."""
_NOT_THE_CALLERS = frozenset({"AccessDenied", "NoSuchBucket"})
"""Error codes that a wrong deployment causes. They are raised, not returned to the caller."""


@contextmanager
def translated_object(key: str, *, refusing: bool = False) -> Generator[None]:
    """As `translated`; missing objects raise NotFoundError, archived ones NotRestoredError.

    With `refusing`, all other errors about the request become ObjectRefusedError.
    """
    try:
        with translated("S3"):
            yield
    except ClientError as error:
        code = code_of(error)
        if code in ABSENT or code == "NoSuchUpload":
            raise NotFoundError(f"S3 has no such object or upload: {key}") from error
        if code == NOT_RESTORED:
            raise NotRestoredError from error
        if not refusing or code in _NOT_THE_CALLERS:
            raise
        reason = error.response.get("Error", {}).get("Message", "")
        raise ObjectRefusedError(key, f"{code} {reason}".strip()) from error
