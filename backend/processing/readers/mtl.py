"""Material libraries of OBJ files."""

from collections.abc import Iterable
from math import isfinite

from backend.processing.files import Files
from backend.processing.readers.soundness import number
from backend.processing.readers.text import utf8_lines
from backend.processing.scene import Material

# The numbers of values of texture options; of some the last two may be left out.
_OPTIONS = {
    **dict.fromkeys(("-blendu", "-blendv", "-boost", "-cc", "-clamp", "-bm", "-imfchan"), 1),
    **dict.fromkeys(("-texres", "-type"), 1),
    "-mm": 2,
}
_SHORTENED = frozenset({"-o", "-s", "-t"})
_TEXTURES = frozenset(
    {"bump", "decal", "disp", "map_bump", "map_d", "map_disp", "map_ka", "map_kd", "map_ke"}
    | {"map_ks", "map_ns", "map_pm", "map_pr", "map_tr", "norm", "refl"}
)


def read_materials(libraries: Iterable[str], files: Files) -> dict[bytes, Material]:
    """Return the materials of the libraries by name. A library that is missing has none."""
    materials: dict[bytes, Material] = {}
    for name in dict.fromkeys(libraries):
        data = files.read(name, "material")
        if data is not None:
            materials |= _library(data, files)
    return materials


def _library(data: bytes, files: Files) -> dict[bytes, Material]:
    read: dict[bytes, Material] = {}
    name, values = b"", dict[str, str]()
    for line in utf8_lines(data).replace(b"\\\n", b" ").splitlines():
        key, _, rest = line.strip().replace(b"\t", b" ").partition(b" ")
        if key.lower() == b"newmtl":
            if values:
                read[name] = _material(name, values, files)
            name, values = rest.strip(), {"newmtl": ""}
        else:
            values[key.decode("ascii", "replace").lower()] = rest.decode("utf-8", "surrogateescape")
    if name:
        read[name] = _material(name, values, files)
    return read


def _material(name: bytes, values: dict[str, str], files: Files) -> Material:
    texture = None
    for key, value in values.items():
        path = _path(value) if key in _TEXTURES else ""
        if path:
            content = files.read(path, "texture")
            texture = content if key == "map_kd" else texture
    alpha = _numbers(values.get("d", "").replace("-halo", ""), 1)
    if not alpha:
        alpha = [1 - transparency for transparency in _numbers(values.get("tr", ""), 1)] or [1.0]
    color = _numbers(values.get("kd", ""), 3) or ([1.0] * 3 if texture else [0.8] * 3)
    red, green, blue = color
    if texture and max(color) == 0:  # some exporters write black where there is a texture
        red = green = blue = 1.0
    return Material(name.decode("utf-8", "replace")[:200], (red, green, blue, alpha[0]), texture)


def _path(text: str) -> str:
    """Return the path of a texture, which follows its options and may contain spaces."""
    words = text.split()
    while words and words[0] in _OPTIONS.keys() | _SHORTENED:
        count = _OPTIONS.get(words[0], 1)
        if words[0] in _SHORTENED:
            # The last word is the path, also if it is a number.
            values = [bool(_numbers(word, 1)) for word in words[1:-1][:3]]
            count = (*values, False).index(False) or 1
        words = words[1 + count :]
    if len(words) < 2:
        return " ".join(words).strip('"')
    end = text.rstrip()
    for _ in words:
        end = end.rstrip().rpartition(end.split()[-1])[0]
    return text[len(end) :].strip().strip('"')


def _numbers(text: str, count: int) -> list[float]:
    values = [number(word.encode()) for word in text.split()[:count]]
    numbers = [value for value in values if value is not None and isfinite(value)]
    return numbers if len(numbers) == count else []
