"""Presigned URLs of parts, and of files that are uploaded whole."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.core.objects import Objects
from backend.domains.uploads import rules
from backend.domains.uploads.models import MAX_URLS, PartUrl, UploadFile


@dataclass(eq=False, repr=False)
class PartUrls:
    """URLs for the files of one upload; each is valid for `seconds`."""

    objects: Objects
    bucket: str
    layout: rules.Layout
    seconds: int

    def check_number(self, urls: int) -> None:
        """Reject more URLs than a reply may contain.

        Raises:
            TooLargeError: the message names both sizes.
        """
        # As long as possible.
        sample = self._url(self.layout.temporary_key("/"), "u" * 160, MAX_URLS)
        rules.check_reply_size(urls, sample)

    def of(self, file: UploadFile, numbers: Iterable[int]) -> list[PartUrl]:
        """Return a URL for each of these parts of a file."""
        key = self.layout.temporary_key(file.path)
        return [
            PartUrl(
                part_number=number,
                upload_url=self.objects.presign_put(self.bucket, key, expires=self.seconds)
                if file.is_single  # its only part is the object
                else self._url(key, file.upload_id_s3, number),
            )
            for number in numbers
        ]

    def _url(self, key: str, upload_id_s3: str, number: int) -> str:
        return self.objects.presign_part(
            self.bucket, key, upload_id=upload_id_s3, number=number, expires=self.seconds
        )
