"""The inspection of one file: its facts and its pictures."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from PIL import Image

from backend.processing import limits
from backend.processing.contents import is_unverified
from backend.processing.descriptors import descriptor
from backend.processing.files import Files, Reference, Source
from backend.processing.glb import build_glb
from backend.processing.measurements import Facts, facts_of, known_and_finite
from backend.processing.merged_parts import merge_parts
from backend.processing.readers.blend import picture_of
from backend.processing.readers.documents import Document
from backend.processing.readers.media import Film
from backend.processing.readers.models import DOCUMENT_READERS, read_model
from backend.processing.render.thumbnail import thumbnail
from backend.processing.render.thumbnail import turntable as turntable_of
from backend.processing.scene import RefusedError
from backend.processing.texts import printable_line
from backend.spec.formats import (
    FORMAT_OF,
    extension_of,
    reason_not_inspected,
)

T = TypeVar("T")
# Most files have a byte that is not blank here, so the whole file is not copied to find one.
_START = 1 << 16
_BLANK = b"\0 \t\r\n"


@dataclass(frozen=True, eq=False)
class Inspection:
    """The result of an inspection. A rejected file has no other facts, and no pictures."""

    facts: Facts = field(default_factory=dict[str, "str | int | float | bool"])
    references: list[Reference] = field(default_factory=list["Reference"])
    refused: str | None = None
    descriptor: list[float] | None = None
    thumbnail: bytes | None = None
    glb: bytes | None = None
    turntable: bytes | None = None
    small: bytes | None = None
    structure: bytes | None = None


def inspect(path: str, data: bytes, source: Source, *, turntable: bool = False) -> Inspection:
    """Inspect a file. A file that cannot be read is rejected with the reason.

    `turntable` also requests pictures of a model from all sides.
    """
    files = Files(source)
    try:
        return _read(path, data, files, turntable=turntable)
    except RefusedError as error:
        return _refusal(str(error), files)
    except MemoryError:
        return _refusal("needs more memory than allowed", files)


def _refusal(reason: str, files: Files) -> Inspection:
    reason = printable_line(reason)[: limits.REASON_CHARACTERS]
    return Inspection(refused=reason or "cannot be read", references=files.references)


def _read(path: str, data: bytes, files: Files, *, turntable: bool) -> Inspection:
    extension = extension_of(path)
    if not data[:_START].strip(_BLANK) and not data.strip(_BLANK):
        raise RefusedError("the file is empty" if not data else f"all {len(data)} bytes are blank")
    if reason := reason_not_inspected(extension):
        raise RefusedError(reason)
    format_ = FORMAT_OF[extension]
    if read := DOCUMENT_READERS.get(format_.reader):
        return _document(read(data), turntable=turntable)
    embedded = picture_of(data) if extension == "blend" else None
    try:
        scene = read_model(data, path.rsplit("/", 1)[-1], extension, files)
    except RefusedError as error:
        if embedded is None:
            raise
        texts = {"format": "BLEND", "generator": embedded[0], "leftOut": f"all objects: {error}"}
        facts = {**known_and_finite(texts), "unverified": True}
        return Inspection(facts=facts, thumbnail=_png(embedded[1]), small=_small(embedded[1]))
    parts = merge_parts(scene.parts)
    references = files.references
    facts = facts_of(scene, parts, references)
    if is_unverified(extension, data):
        facts["unverified"] = True
    glb, structure = _unless_too_large(lambda: build_glb(scene, parts)) or (None, None)
    picture = embedded[1] if embedded else None
    if picture is None:
        picture = _unless_too_large(lambda: thumbnail(parts, scene.materials, scene.up))
    return Inspection(
        facts=facts,
        references=references,
        descriptor=_unless_too_large(lambda: descriptor(parts)),
        thumbnail=None if picture is None else _png(picture),
        small=None if picture is None else _small(picture),
        glb=glb,
        structure=structure,
        turntable=_unless_too_large(
            lambda: _animated(turntable_of(parts, scene.materials, scene.up))
        )
        if turntable
        else None,
    )


def _unless_too_large(build: Callable[[], T | None]) -> T | None:
    """Return the pictures; none if they need too much memory. The facts remain."""
    try:
        return build()
    except MemoryError:
        return None


def _document(document: Document | Film, *, turntable: bool) -> Inspection:
    picture = document.picture
    strip = document.strip if isinstance(document, Film) else None
    return Inspection(
        facts=known_and_finite({**document.facts}),
        thumbnail=None if picture is None else _png(picture),
        small=None if picture is None else _small(picture),
        turntable=_animated(strip()) if strip and turntable else None,
    )


def _animated(frames: Sequence[Image.Image]) -> bytes | None:
    """Return an animated PNG of a turn around a model, or of a film."""
    if not frames:
        return None
    out = io.BytesIO()
    frames[0].save(out, "PNG", save_all=True, append_images=frames[1:], duration=250, loop=0)
    return out.getvalue()


def _png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.info = {}  # Pillow would write profiles and texts of the source
    picture.save(out, "PNG")
    return out.getvalue()


def _small(picture: Image.Image) -> bytes:
    """Return the thumbnail for pages that show many, without its texts and profiles."""
    small = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    small.thumbnail((limits.SMALL_PIXELS, limits.SMALL_PIXELS))
    out = io.BytesIO()
    small.info = {}
    small.save(out, "WEBP", quality=80)
    return out.getvalue()
