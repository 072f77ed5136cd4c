"""Converts pictures to sRGB, and removes what is not a picture from them.

Profiles, EXIF, XMP and comments may name the photographer, the place or the program; users who open
a thumbnail do not expect them.
"""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Loaded here, by the template of the jail: a confined process cannot load it.
from PIL import Image, ImageCms

_cms: Any = ImageCms  # some of its types are not declared
_SRGB: Any = _cms.createProfile("sRGB")
_PLAIN = {"LA": "L", "RGBA": "RGB", "RGB": "RGB", "L": "L", "CMYK": "CMYK"}
_PLAIN_FORMS = {"RGBX": "RGB", "RGBa": "RGBA", "La": "LA"}


def convert_to_srgb(image: Image.Image) -> Image.Image:
    """Return the picture in sRGB by the profile that it contains, and without any metadata.

    With a broken profile, or one of another kind of picture, the values are kept.
    """
    profile = image.info.get("icc_profile")
    transparency = image.info.get("transparency")
    if isinstance(profile, bytes):
        image = as_profiled(image)
        transparency = image.info.get("transparency")
    image.info = {} if transparency is None else {"transparency": transparency}
    if not isinstance(profile, bytes) or image.mode not in _PLAIN:
        return image
    alpha = image.getchannel("A") if "A" in image.getbands() else None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        plain = image.convert(_PLAIN[image.mode])
        converted = ImageCms.profileToProfile(plain, source, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image
    if converted is None:
        return image
    if alpha is not None:
        converted.putalpha(alpha)
    converted.info = {}
    return converted


def as_profiled(image: Image.Image) -> Image.Image:
    """Return the picture with the values that its profile is of: those of a palette's colours."""
    if image.mode in {"P", "PA"}:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image.convert(_PLAIN_FORMS[image.mode]) if image.mode in _PLAIN_FORMS else image


def linear_to_srgb(light: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return colours of the screen for the linear light of glTF."""
    with np.errstate(all="ignore"):
        known = np.nan_to_num(np.asarray(light, np.float64), nan=0.0, posinf=1.0, neginf=0.0)
        root = 1.055 * np.clip(known, 0.0031308, None) ** (1 / 2.4) - 0.055
        return np.where(known <= 0.0031308, 12.92 * known, root)


def srgb_to_linear(colors: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the linear light of colours of the screen."""
    with np.errstate(all="ignore"):
        known = np.nan_to_num(np.asarray(colors, np.float64), nan=0.0, posinf=1.0, neginf=0.0)
        power = ((np.clip(known, 0.04045, None) + 0.055) / 1.055) ** 2.4
        return np.where(known <= 0.04045, known / 12.92, power)
