"""The facts that the shipped pipelines extract from a file: names, types and meanings.

A fact is stored as an attribute of the file under a reserved key (`fact_triangles`). Only the
product writes these keys. Each value is a string, as every attribute is; search compares and sorts
it by the type declared here.
"""

from typing import Literal

from backend.values import frozen

FACT_PREFIX = "fact_"
"""The reserved prefix of attribute keys that hold facts."""

# The attribute of a file's references, as JSON. Search does not index it.
REFERENCES_KEY = FACT_PREFIX + "references"
SHAPE_KEY = FACT_PREFIX + "shape"
"""The attribute with a model's shape: `SHAPE_NUMBERS` little-endian float32 values in base64."""
SHAPE_NUMBERS = 48 + 24 + 3  # distances, radii and extents (decision 50)
REFUSED_KEY = FACT_PREFIX + "refused"
SOURCE_VERSION_KEY = FACT_PREFIX + "sourceVersionId"
READERS_VERSION_KEY = FACT_PREFIX + "readersVersion"

# Version of the file readers. Increment it when readers return other facts for the same bytes, or
# read files that they rejected; administrators then renew stored facts (decision 88). Version 1
# stored no version.
READERS_VERSION = 16

# Years of dates that are facts, from that of the first photograph on. Others mean an unknown date.
# They are also few enough for a histogram: of 10,000 years OpenSearch returns 10,000 buckets.
YEARS = range(1826, 2200)

FactType = Literal["string", "number", "date", "boolean"]


@frozen
class Fact:
    """One fact of a file; its attribute key is `FACT_PREFIX` and the name."""

    name: str
    type: FactType
    description: str

    @property
    def key(self) -> str:
        return FACT_PREFIX + self.name

    def typed(self, text: str) -> float | bool | str:
        """Return a stored value in the fact's type, or its text if it is not valid."""
        if self.type == "boolean" and text in {"true", "false"}:
            return text == "true"
        if self.type == "number":
            try:
                number = float(text)
            except ValueError:
                return text
            return int(number) if number.is_integer() else number
        return text


FACTS = (
    Fact("format", "string", "File format, as its reader names it: `glTF2`, `OBJ`, `PNG`."),
    Fact("generator", "string", "Program that wrote the file."),
    Fact("refused", "string", "Why the file could not be read. Such a file has no other facts."),
    Fact(
        "unverified",
        "boolean",
        "True if no second program confirms the results of the format's reader (tier `Read`).",
    ),
    Fact("sourceVersionId", "string", "S3 version of the file that the facts describe."),
    Fact("readersVersion", "number", "Version of the readers that read the file, if one did."),
    Fact("triangles", "number", "Triangles, after polygons are triangulated."),
    Fact("lines", "number", "Line segments."),
    Fact("points", "number", "Points."),
    Fact("splats", "number", "Gaussian splats, which are also counted as points."),
    Fact("scans", "number", "Scans of an E57 file."),
    Fact("images", "number", "Images that an E57 file has beside its scans."),
    Fact("layers", "number", "Layers of a Rhino file; files that a USD stage is composed of."),
    Fact("elements", "number", "Elements of an IFC model, without openings; of an SVG picture."),
    Fact("storeys", "number", "Storeys of an IFC model."),
    Fact("links", "number", "Links of a robot or world; bodies of MJCF."),
    Fact("joints", "number", "Joints of a robot or world."),
    Fact("vertices", "number", "Vertices."),
    Fact("meshes", "number", "Meshes."),
    Fact("materials", "number", "Materials that the file declares or uses."),
    Fact("textures", "number", "Textures that the file references or embeds."),
    Fact("texturesFound", "number", "Referenced textures that are files of the asset."),
    Fact("texturesMissing", "number", "Referenced textures that are not in the asset."),
    Fact("texturesAbsolute", "number", "Textures referenced by an absolute path or a URL."),
    Fact("texturesEmbedded", "number", "Textures embedded in the file."),
    Fact("animations", "number", "Animations."),
    Fact("bones", "number", "Bones."),
    Fact("boundsMin", "string", "Smallest x, y and z of the geometry, as a JSON array."),
    Fact("boundsMax", "string", "Largest x, y and z of the geometry, as a JSON array."),
    Fact("sizeX", "number", "Extent of the geometry along x, in units of the file."),
    Fact("sizeY", "number", "Extent of the geometry along y, in units of the file."),
    Fact("sizeZ", "number", "Extent of the geometry along z, in units of the file."),
    Fact("area", "number", "Surface area, in square units of the file."),
    Fact("volume", "number", "Enclosed volume of a watertight model, in cubic units of the file."),
    Fact("watertight", "boolean", "Whether every edge belongs to exactly two triangles."),
    Fact("unit", "string", "Unit of length that the file names or its format implies."),
    Fact("metresPerUnit", "number", "Metres of one unit of the file."),
    Fact(
        "upAxis",
        "string",
        "Axis that points up, `x`, `y` or `z`, if the file or its format defines one.",
    ),
    Fact("crs", "string", "Coordinate reference system of a point cloud."),
    Fact(
        "endsWithinLine",
        "boolean",
        "True if a text without an end mark (OBJ) ends within a line: it may be cut off.",
    ),
    Fact(
        "leftOut",
        "string",
        "What is missing in the other facts: vertices that are not finite, faces with a vertex "
        "that does not exist or is not finite, triangles beyond the count of an STL header, "
        "entities of DXF that are not read.",
    ),
    Fact("pages", "number", "Pages of a document."),
    Fact("width", "number", "Width of an image or film, in pixels; of a page, in points."),
    Fact("height", "number", "Height of an image or film, in pixels; of a page, in points."),
    Fact("colorMode", "string", "Colour mode of an image, as Pillow names it: `RGB`, `L`."),
    Fact("frames", "number", "Frames of an animated image or a film."),
    Fact("duration", "number", "Duration of a film or of sound, in seconds."),
    Fact("frameRate", "number", "Frames of a film in each second."),
    Fact("videoCodec", "string", "Coding of the frames of a film: `AVC`, `HEVC`, `VP9`."),
    Fact("audioCodec", "string", "Coding of sound: `AAC`, `PCM`, `Opus`."),
    Fact("rotation", "number", "Degrees by which the frames of a film are turned when shown."),
    Fact("channels", "number", "Channels of sound."),
    Fact("sampleRate", "number", "Samples of sound in each second."),
    Fact("camera", "string", "Camera of a photograph: its maker and model."),
    Fact("lens", "string", "Lens of a photograph."),
    Fact(
        "taken",
        "date",
        "When a photograph was taken, by the clock of its camera: `2024-05-17T05:42:10`. It has no "
        "time zone; searches compare it as if it were UTC.",
    ),
    Fact("exposureTime", "number", "Exposure time of a photograph, in seconds."),
    Fact("fNumber", "number", "f-number of a photograph: focal length by aperture."),
    Fact("iso", "number", "Sensitivity of a photograph (ISO)."),
    Fact("focalLength", "number", "Focal length of a photograph, in millimetres."),
    Fact("latitude", "number", "Where a photograph was taken, in degrees north."),
    Fact("longitude", "number", "Where a photograph was taken, in degrees east."),
)

GEOMETRY = frozenset(
    {
        *("triangles", "lines", "points", "vertices", "meshes", "materials", "bones", "watertight"),
        *("boundsMin", "boundsMax", "sizeX", "sizeY", "sizeZ", "area", "volume"),
    }
)
"""The facts that a comparison of two model versions includes."""

FACT_BY_KEY = {fact.key: fact for fact in FACTS}
HIDDEN_KEYS = frozenset({REFERENCES_KEY, SHAPE_KEY})
"""Attributes that searches neither return nor match."""
STORED_KEYS = (*FACT_BY_KEY, REFERENCES_KEY, SHAPE_KEY)
"""Every attribute key that holds a fact."""
