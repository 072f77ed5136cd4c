"""HEIF pictures coded by HEVC, such as those of telephones, by libheif."""

import re

from backend.spec.formats import FORMAT_OF

_HEIF = re.compile(FORMAT_OF["heic"].start, re.DOTALL)


def is_heif(data: bytes) -> bool:
    """Return whether an image is HEIF. Its decoder starts a thread, whatever the options."""
    return _HEIF.match(data) is not None


def register() -> None:
    """Let Pillow open these pictures: the main one of a file, rotated as the file says."""
    import pi_heif  # noqa: PLC0415 - only these pictures need it

    pi_heif.register_heif_opener(
        thumbnails=False, depth_images=False, aux_images=False, decode_threads=1
    )
