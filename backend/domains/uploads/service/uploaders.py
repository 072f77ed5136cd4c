"""Finds who uploaded a version of a file, for slices that act for that user."""

from dataclasses import dataclass

from backend.core.identity import Identity
from backend.domains.uploads.repository import UploadRepository


@dataclass(eq=False, repr=False)
class Uploaders:
    uploads: UploadRepository

    def uploader(self, upload_id: str) -> Identity | None:
        """Return who started an upload; None once its rows have expired."""
        upload = self.uploads.get(upload_id)
        # Second factors are not stored, so the identity has none.
        return None if upload is None else Identity(upload.user_id)
