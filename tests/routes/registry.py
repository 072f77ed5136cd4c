"""Routes of the deployment: configuration, buckets, databases, tags."""

from typing import Any

from backend.spec import routes
from tests.factories.buckets import BUCKET_ID
from tests.routes import contents
from tests.routes.model import (
    ID,
    NO_ID,
    OF_DATABASES,
    OWN,
    Case,
    Rows,
    Target,
    fixed,
    in_body,
    in_list,
    in_path,
    on_database,
)
from tests.routes.needs import (
    allow_all,
    check_import,
    check_new_bucket,
    check_new_database,
    check_new_tag,
    check_new_tag_type,
)
from tests.routes.rows import make_bucket, make_database, make_tag, make_tag_type
from tests.unit.domains.access.matrix.states import State
from tests.unit.domains.access.matrix.world import Question

_NEW_DATABASES: dict[State, str] = {"own": "museum", "foreign": "library", "GLOBAL": "GLOBAL"}
_ALSO_DELETED = {"showDeleted": "true"}


def _new_database(target: Target) -> Any:
    name = _NEW_DATABASES[target.state]
    return {"databaseId": name, "description": "X" * 9, "defaultBucketId": BUCKET_ID}


def _databases(target: Target) -> Question:
    query = _ALSO_DELETED if target.state == "archived" else {}
    return Question({}, query, shows=f"'{target.database_id}'")


def _database(target: Target) -> Question:
    query = _ALSO_DELETED if target.state == "archived" else {}
    return Question({"databaseId": target.database_id}, query)


def _delete_database(target: Target) -> Question:
    """A request for another database, which is empty."""
    name = "cellar" if target.state == "foreign" else target.database_id
    return Question({"databaseId": name})


def _changed_tag(target: Target) -> Any:
    return {"tagName": target.either("red"), "description": "X", "tagTypeName": "colour"}


def _changed_tag_type(target: Target) -> Any:
    return {"tagTypeName": target.either("colour"), "description": "X"}


CASES = (
    Case(routes.GET_AMPLIFY_CONFIG, fixed(), OWN, needs=allow_all),
    Case(routes.GET_VERSION, fixed(), OWN, needs=allow_all),
    Case(routes.GET_SECURE_CONFIG, fixed(), OWN, needs=allow_all),
    Case(routes.GET_OPENAPI, fixed(), OWN, needs=allow_all),
    Case(routes.LIST_BUCKETS, in_list(BUCKET_ID), ID, rows=Rows(make_bucket, "bucketId", 400),
         needs=allow_all, content=contents.BUCKETS),
    Case(routes.REGISTER_BUCKET, fixed({"bucketName": "scans"}), OWN, audit="bucket:",
         needs=check_new_bucket),
    Case(routes.IMPORT_BUCKET, in_path("bucketId", BUCKET_ID, NO_ID), ID,
         audit=f"bucket:{BUCKET_ID}", needs=check_import),
    Case(routes.CREATE_DATABASE, in_body(_new_database), ("own", "foreign", "GLOBAL"),
         audit="database:library", succeeds="foreign", needs=check_new_database),
    Case(routes.LIST_DATABASES, _databases, ("own", "foreign", "archived", "absent"),
         rows=Rows(make_database, "databaseId"), sees_archived=True,
         needs=allow_all, content=contents.ALL_DATABASES),
    Case(routes.GET_DATABASE, _database, OF_DATABASES, sees_archived=True),
    Case(routes.UPDATE_DATABASE, on_database({"description": "Nearly all"}), OF_DATABASES,
         audit="database:museum"),
    Case(routes.DELETE_DATABASE, _delete_database, OF_DATABASES, audit="database:cellar",
         succeeds="foreign"),
    Case(routes.LIST_TAGS, in_list("'red'"), ID, rows=Rows(make_tag, "tagName"),
         needs=allow_all, content=contents.TAGS),
    Case(routes.CREATE_TAG, fixed({"tagName": "blue", "description": "Sky",
         "tagTypeName": "colour"}), OWN, audit="tag:blue", needs=check_new_tag),
    Case(routes.UPDATE_TAG, in_body(_changed_tag), ID, audit="tag:red"),
    Case(routes.DELETE_TAG, in_path("tagId", "red"), ID, audit="tag:red"),
    Case(routes.LIST_TAG_TYPES, in_list("'colour'"), ID, rows=Rows(make_tag_type, "tagTypeName",
         5), needs=allow_all, content=contents.TAG_TYPES),
    Case(routes.CREATE_TAG_TYPE, fixed({"tagTypeName": "size", "description": "How large"}), OWN,
         audit="tagType:size", needs=check_new_tag_type),
    Case(routes.UPDATE_TAG_TYPE, in_body(_changed_tag_type), ID, audit="tagType:colour"),
    Case(routes.DELETE_TAG_TYPE, in_path("tagTypeId", "empty"), ID, audit="tagType:empty"),
)  # fmt: skip
