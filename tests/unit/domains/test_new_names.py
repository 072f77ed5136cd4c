"""Bodies that choose a name refuse invisible characters; bodies that refer to a name take them."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from backend.core.errors import InvalidInputError
from backend.domains.asset_versions.models import UpdateVersionBody
from backend.domains.assets.models import AssetPath, CreateAssetBody, NewAsset
from backend.domains.files.rules import Owner, demand_name
from backend.domains.ingest.models import IngestBody
from backend.domains.ingest.rules import started_upload
from backend.domains.uploads.models import NewFile, SentFile

HIDDEN = "a\u200bb"
ASSET = {"databaseId": "museum", "assetName": "Lion", "description": "A lion"}
INGEST = {"databaseId": "museum", "assetId": "lion", "files": [{"relativeKey": "lion/a"}]}


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (CreateAssetBody, {**ASSET, "isDistributable": True, "assetName": HIDDEN}),
        (CreateAssetBody, {**ASSET, "isDistributable": True, "assetId": HIDDEN}),
        (IngestBody, {**INGEST, "assetId": HIDDEN}),
        (IngestBody, {**INGEST, "assetName": HIDDEN}),
        (NewFile, {"relativeKey": HIDDEN}),
        (UpdateVersionBody, {"versionAlias": HIDDEN}),
    ],
)
def test_a_chosen_name_is_refused(model: type[BaseModel], body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="invisible"):
        model.model_validate(body)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (NewAsset, {**ASSET, "isDistributable": True, "assetName": HIDDEN, "assetId": HIDDEN}),
        (AssetPath, {"databaseId": "museum", "assetId": HIDDEN}),
        (SentFile, {"relativeKey": HIDDEN, "uploadIdS3": "1"}),
    ],
)
def test_a_stored_name_is_taken(model: type[BaseModel], body: dict[str, Any]) -> None:
    model.model_validate(body)


def test_a_path_of_an_ingest_is_refused() -> None:
    body = IngestBody.model_validate({**INGEST, "files": [{"relativeKey": f"lion/{HIDDEN}"}]})
    with pytest.raises(InvalidInputError, match="invisible"):
        started_upload(body)


def test_the_destination_of_a_file_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="invisible"):
        demand_name(Owner("museum", "lion", "lion/"), f"/{HIDDEN}", "", field="destinationPath")
