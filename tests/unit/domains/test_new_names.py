"""Bodies that choose a name refuse invisible characters; bodies that refer to a name take them."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from backend.core.errors import InvalidInputError
from backend.core.models import WrongFieldError
from backend.domains.access.models.constraints import ConstraintPath
from backend.domains.access.models.roles import RoleBody, UserBody, UserRolesBody
from backend.domains.asset_versions.models import UpdateVersionBody
from backend.domains.assets.models import AssetPath, CreateAssetBody, NewAsset
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.files.rules import MAX_DESTINATION_BYTES, Owner, check_name
from backend.domains.identity.models.keys import CreateApiKeyBody
from backend.domains.identity.models.sign_ins import CreateSignInBody, SignInPath
from backend.domains.identity.rules.refusals import RefusedError
from backend.domains.identity.rules.users import check_usable
from backend.domains.ingest.models import IngestBody
from backend.domains.ingest.rules import started_upload
from backend.domains.pipelines.models import PutPipelineBody
from backend.domains.tags.models import TagBody, TagTypeBody
from backend.domains.uploads.models import NewFile, SentFile
from backend.domains.workflows.models import PutWorkflowBody
from tests.factories.buckets import BUCKET_ID
from tests.factories.workflows import pipeline_body, workflow_body

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
        check_name(Owner("museum", "lion", "lion/"), f"/{HIDDEN}", "", field="destinationPath")


FILLERS = ("\u3164", "\u115f", "\u1160", "\uffa0", "\u200b")
"""Letters, as Unicode classifies most of them, that are displayed as nothing."""
USER = {"userId": "ann"}
NAMED: list[tuple[type[BaseModel], dict[str, Any], str]] = [
    (CreateSignInBody, {**USER, "email": "ann@example.org"}, "userId"),
    (UserRolesBody, {**USER, "roleName": ["viewer"]}, "roleName.0"),
    (RoleBody, {"roleName": "viewer", "description": "View"}, "roleName"),
    (CreateApiKeyBody, {"apiKeyName": "Robot", **USER, "description": "Lab"}, "apiKeyName"),
    (CreateApiKeyBody, {"apiKeyName": "Robot", **USER, "description": "Lab"}, "userId"),
    (ConstraintPath, {"constraintId": "see"}, "constraintId"),
    (CreateDatabaseBody, {"databaseId": "museum", "description": "All of it",
                          "defaultBucketId": BUCKET_ID}, "databaseId"),
    (TagBody, {"tagName": "red", "description": "A tag", "tagTypeName": "c"}, "tagName"),
    (TagTypeBody, {"tagTypeName": "colour", "description": "A type"}, "tagTypeName"),
    (PutPipelineBody, pipeline_body(), "pipelineId"),
    (PutWorkflowBody, workflow_body(), "workflowId"),
]  # fmt: skip


def test_a_destination_has_at_most_the_declared_bytes() -> None:
    owner = Owner("museum", "statue", "statue/")
    check_name(owner, "/" + "d" * (MAX_DESTINATION_BYTES - 1), "", field="destinationPath")
    with pytest.raises(InvalidInputError, match="snapshot key"):
        check_name(owner, "/" + "d" * MAX_DESTINATION_BYTES, "", field="destinationPath")


def test_every_name_that_people_read_is_refused_with_characters_they_cannot_see() -> None:
    taken: list[tuple[str, str, str]] = []
    for model, body, where in NAMED:
        model.model_validate(body)
        for filler in FILLERS:
            try:
                model.model_validate(with_filler(body, where, filler))
            except ValidationError as error:
                cause = error.errors()[0]
                named = [*map(str, cause["loc"])]
                named += [each.field for each in [cause.get("ctx", {}).get("error")]
                          if isinstance(each, WrongFieldError)]  # fmt: skip
                assert ".".join(named) == where, (model.__name__, where)
            else:
                taken.append((model.__name__, where, f"U+{ord(filler):04X}"))
    assert not taken


def with_filler(body: dict[str, Any], where: str, filler: str) -> dict[str, Any]:
    changed = json.loads(json.dumps(body))
    *parents, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    place = changed
    for part in parents:
        place = place[part]
    place[last] = f"{place[last]}{filler}x"
    return changed


def test_a_token_does_not_name_a_user_with_characters_that_people_cannot_see() -> None:
    assert check_usable("ann@example.org") == "ann@example.org"
    for filler in FILLERS:
        with pytest.raises(RefusedError):
            check_usable(f"ann{filler}@example.org")


def test_a_stored_user_with_such_a_name_can_be_removed() -> None:
    for filler in FILLERS[:3]:
        UserBody.model_validate({"userId": f"ann{filler}"})
        SignInPath.model_validate({"userId": f"ann{filler}"})
