"""What can be done with uploads: start, finish, give up."""

from backend.domains.uploads.service.uploading import UploadLimits, UploadService

__all__ = ["UploadLimits", "UploadService"]
