"""Saved views of models: as stored, and the bodies and replies of their routes."""

import base64
import binascii
from hashlib import sha256
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from backend.core.invisible import check_visible
from backend.core.models import SentModel, WireModel
from backend.core.names import Form, Line, RelativePath, VersionIdText, trim_blanks
from backend.domains.assets.models import AssetPath
from backend.spec.inspection_outputs import PNG_MAGIC

MAX_PICTURE_BYTES = 200_000
MAX_VIEW_CHARS = 65_536


def check_picture(value: str) -> str:
    """Check a PNG in base64, but keep it as sent."""
    try:
        picture = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not base64") from None
    if not picture.startswith(PNG_MAGIC):
        raise ValueError("is not a PNG")
    if len(picture) > MAX_PICTURE_BYTES:
        raise ValueError(f"has {len(picture)} bytes; at most {MAX_PICTURE_BYTES} are allowed")
    return value


ViewId = Annotated[str, Form("[0-9a-f]{32}", "must be 32 digits of a hexadecimal number")]


class ViewPath(AssetPath):
    view_id: ViewId


class ViewContent(WireModel):
    """Camera, section and hidden parts of the model in a file, under a name."""

    name: Annotated[
        Line,
        Field(min_length=1, max_length=256),
        AfterValidator(check_visible),
        BeforeValidator(trim_blanks),
    ]
    file_path: RelativePath
    asset_version_id: VersionIdText | None = None
    version_id: Annotated[Line | None, Field(min_length=1, max_length=1024)] = None
    view: Annotated[
        str,
        Form(
            f"[-.~0-9A-Za-z_]{{1,{MAX_VIEW_CHARS}}}",
            f"must be 1 to {MAX_VIEW_CHARS} letters, digits, '-', '.', '_' or '~'",
        ),
    ]

    @property
    def content_id(self) -> str:
        """Return the id of a view with this content."""
        versions = (self.asset_version_id or "", self.version_id or "")
        lines = (self.name, self.file_path, *versions, self.view)
        return sha256("\n".join(lines).encode()).hexdigest()[:32]


class SaveViewBody(ViewContent, SentModel):
    """`picture` is a PNG in base64, `view` the text that the page puts into links."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "The pump without its housing",
                    "filePath": "/scans/pump.glb",
                    "view": "c1_2_3_0_0_0~h40_3-17",
                    "picture": base64.b64encode(PNG_MAGIC).decode(),
                }
            ]
        }
    )

    picture: Annotated[str, AfterValidator(check_picture)]


class SavedView(ViewContent):
    """A view as stored. Its picture is an object of its own."""

    created_by: str
    date_created: str


class ViewReply(SavedView):
    view_id: ViewId


class ViewItem(WireModel):
    """A view in a list; `picture_url` is a presigned URL."""

    view_id: ViewId
    name: str
    file_path: str
    asset_version_id: str | None = None
    version_id: str | None = None
    created_by: str
    date_created: str
    picture_url: str


class ViewsReply(WireModel):
    items: list[ViewItem]


class ViewChangedReply(WireModel):
    message: str
