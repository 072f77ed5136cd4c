"""The kind of a file, by its name and its first bytes. Pure. Clients do not decide it."""

import mimetypes
import re
from typing import NamedTuple
from urllib.parse import quote

from backend.core.names import extension_of
from backend.spec.formats import FORMAT_OF
from backend.spec.key_layouts import (
    ASSET_PREVIEW_NAMES,
    PREVIEW_EXTENSIONS,
    PREVIEW_MARK,
    SMALL_PREVIEW_EXTENSION,
)

BLOCKED_EXTENSIONS = (
    ".jar", ".java", ".com", ".php", ".reg", ".pif", ".bak", ".dll", ".exe", ".nat", ".cmd",
    ".lnk", ".docm", ".vbs", ".bat",
)  # fmt: skip
"""Extensions that uploads may not have, in any case. The contract defines the list."""

UNKNOWN_TYPE = "application/octet-stream"

_EXTENSIONS = "|".join(sorted(extension[1:] for extension in PREVIEW_EXTENSIONS))
_SMALL = SMALL_PREVIEW_EXTENSION[1:]
_PREVIEW = re.compile(
    rf"(?P<base>.*[^/]){re.escape(PREVIEW_MARK)}(?:(?i:{_EXTENSIONS})|(?P<small>{_SMALL}))",
    re.DOTALL,
)

# These go before the machine's own table, which differs from one machine to the next.
_CONTENT_TYPES = {
    **{extension: row.media_type for extension, row in FORMAT_OF.items() if row.media_type},
    "js": "text/javascript",
    "mjs": "text/javascript",
    "xhtml": "application/xhtml+xml",
}

_SCRIPT_CAPABLE = frozenset(
    {
        "application/hta",
        "application/java-archive",
        "application/vnd.adobe.flash.movie",
        "application/x-shockwave-flash",
        "application/x-silverlight-app",
        "application/xml",
        "application/xml-dtd",
        "message/rfc822",
        "multipart/related",
        "multipart/x-mixed-replace",
        "text/html",
        "text/vbscript",
        "text/x-component",
        "text/xml",
        "text/xsl",
    }
)
_SVG = "image/svg+xml"
_SHOWN = ("image/", "audio/", "video/", "font/", "model/")
# Content types that are displayed inline. All other types are downloaded, so a type that was not
# considered cannot run in the page's origin.
_SHOWN_TYPES = frozenset(
    {"application/json", "application/pdf", "text/csv", "text/markdown", "text/plain"}
)
# A name in the other direction hides its extension: `gpj.exe` is displayed backwards.
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_NOT_NAMED = dict.fromkeys((*_DIRECTIONS, *_CONTROLS), "_")

_EXECUTABLES = (
    (b"MZ", "a Windows executable"),
    (b"\x7fELF", "an ELF executable"),
    (b"\xfe\xed\xfa\xce", "a Mach-O executable"),
    (b"\xfe\xed\xfa\xcf", "a Mach-O executable"),
    (b"\xce\xfa\xed\xfe", "a Mach-O executable"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O executable"),
    (b"\xca\xfe\xba\xbe", "a Mach-O executable or Java class"),
    (b"\xbe\xba\xfe\xca", "a Mach-O executable"),
    (b"\xca\xfe\xba\xbf", "a Mach-O executable"),
    (b"\xbf\xba\xfe\xca", "a Mach-O executable"),
)


def content_type_of(path: str) -> str:
    """Return the media type with which a file of this name is stored and served."""
    extension = extension_of(path)
    known = _CONTENT_TYPES.get(extension.removeprefix("."))
    if known is not None:
        return known
    guessed, encoding = mimetypes.guess_type("file" + extension)
    return guessed if guessed is not None and encoding is None else UNKNOWN_TYPE


def can_run_script(content_type: str) -> bool:
    """Return whether a browser may run code in content of this type.

    Such files are only downloaded.
    """
    kind = content_type.split(";", 1)[0].strip().lower()
    return kind in _SCRIPT_CAPABLE or kind.endswith(("+xml", "javascript", "ecmascript"))


class Serving(NamedTuple):
    """The headers that describe the bytes of a file to a browser."""

    content_type: str
    disposition: str
    cache_control: str | None = None


def serving_of(key: str) -> Serving:
    """Return how a file of this key is served, regardless of the client and of stored headers.

    Content that may run code is saved instead of displayed, with a neutral type.
    """
    content_type = content_type_of(key)
    if can_run_script(content_type):
        # An SVG keeps its type: pages display it as an image, where its code does not run. Opened
        # by itself it is saved.
        kind = content_type if content_type == _SVG else UNKNOWN_TYPE
        return Serving(kind, _disposition("attachment", key))
    if content_type.startswith(_SHOWN) or content_type in _SHOWN_TYPES:
        return Serving(content_type, _disposition("inline", key))
    return Serving(content_type, _disposition("attachment", key))


def saved(key: str) -> Serving:
    """Return how a file of this key is served to a browser that is to save it."""
    return serving_of(key)._replace(disposition=_disposition("attachment", key))


def _disposition(kind: str, key: str) -> str:
    """Return the header (RFC 6266) with the name escaped, so that it cannot end the header."""
    name = key.rsplit("/", 1)[-1].translate(_NOT_NAMED)
    return f"{kind}; filename*=UTF-8''{quote(name, safe='')}"


def blocked_extension(path: str) -> str | None:
    """Return the blocked extension of a name, if it has one; `.BAT` alone counts too."""
    name = path.rsplit("/", 1)[-1].lower()
    return next((extension for extension in BLOCKED_EXTENSIONS if name.endswith(extension)), None)


def executable_kind(start: bytes) -> str | None:
    """Return the kind of executable that begins with these bytes, if it is one."""
    return next((kind for magic, kind in _EXECUTABLES if start.startswith(magic)), None)


def is_preview(path: str) -> bool:
    """Return whether a name is that of a file's preview."""
    return preview_base(path) is not None


def is_small_preview(path: str) -> bool:
    """Return whether a name is that of the small picture beside a file's generated preview."""
    match = _PREVIEW.fullmatch(path)
    return match is not None and match["small"] is not None


def is_file(key: str) -> bool:
    """Return whether a key is a file: no folder marker, and no preview of another file."""
    return not key.endswith("/") and not is_preview(key)


def preview_base(path: str) -> str | None:
    """Return the path or key of the file that this is the preview of; None if it is no preview.

    The marker is case-sensitive, as S3 keys are; the extension is not, except that of the small
    picture, which only the product writes.
    """
    match = _PREVIEW.fullmatch(path)
    return None if match is None else match["base"]


def asset_preview_keys(prefix: str) -> list[str]:
    """Return the keys, in order, that a preview of the asset with this prefix may have."""
    return sorted(prefix + name for name in ASSET_PREVIEW_NAMES)


def is_asset_preview(prefix: str, key: str) -> bool:
    """Return whether a key is that of a preview of the asset with this prefix."""
    return key.startswith(prefix) and key[len(prefix) :] in ASSET_PREVIEW_NAMES
