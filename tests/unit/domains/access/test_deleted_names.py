"""The name of a deleted object that constraints still mention is for administrators."""

import json
from dataclasses import replace
from typing import Any

import pytest

from backend.core.authorization import SystemOnly
from backend.core.errors import AlreadyExistsError, PermissionDeniedError
from backend.core.identity import SYSTEM, Identity
from backend.core.transactions import Put
from backend.domains.access.models.roles import RoleBody
from backend.domains.access.repository.deleted_names import DeletedNameRepository
from backend.domains.access.repository.policies import PolicyRepository
from backend.domains.access.service.decisions import PolicyAuthorization
from backend.domains.access.service.deleted_names import DeletedNames
from backend.domains.access.service.roles import RoleService
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.models import CreateDatabaseBody
from backend.domains.tags.models import TagTypeBody
from backend.spec.tables.access import CONSTRAINTS
from tests.factories.access import stored_user_role
from tests.factories.administration import Parts, stored_role
from tests.factories.assets import ADMIN, NOON, asset_service
from tests.factories.audit import audit_service
from tests.factories.buckets import BUCKET_ID
from tests.factories.policies import everything, put_policy
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

ANN = Identity("ann")
FIELDS = ("databaseId", "tagTypeName", "roleName")
by_field = pytest.mark.parametrize("field", FIELDS)


class Names:
    """Databases, tag types and roles, and Ann, who may create and delete all of them."""

    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.assets: AssetService = asset_service(self.tables, MemoryObjects())
        self.roles: RoleService = (
            Parts(self.tables, audit_service(MemoryObjects()), NOON).services().roles
        )
        stored_role(self.tables, "editor")
        stored_user_role(self.tables, user_id="ann", role_name="editor")
        kinds = ("database", "tagType", "role")
        put_policy(self.tables, "role#editor", *map(everything, kinds))
        self.rules = PolicyAuthorization(PolicyRepository(self.tables), lambda: NOON)

    def create(self, caller: Identity, field: str, name: str = "old") -> None:
        rules = self.rules if caller == ANN else self.assets.authorization
        names = DeletedNames(DeletedNameRepository(self.tables), rules)
        if field == "databaseId":
            body = CreateDatabaseBody(
                database_id=name, description="Things", default_bucket_id=BUCKET_ID
            )
            service = replace(self.assets.databases, authorization=rules, names=names)
            service.create_database(caller, body)
        elif field == "tagTypeName":
            tags = replace(self.assets.tags, authorization=rules, names=names)
            tags.create_tag_type(caller, TagTypeBody(tag_type_name=name, description="Things"))
        else:
            roles = replace(self.roles, authorization=rules, names=names)
            roles.create_role(caller, RoleBody(role_name=name, description="Things"))

    def delete(self, field: str, name: str = "old") -> None:
        if field == "databaseId":
            self.assets.databases.delete_database(ADMIN, name)
        elif field == "tagTypeName":
            self.assets.tags.delete_tag_type(ADMIN, name)
        else:
            self.roles.delete_role(ADMIN, name)

    def mention(self, field: str, value: Any, block: str = "criteriaAnd") -> None:
        criterion = {"field": field, "operator": "is_one_of", "value": value}
        item = {"constraintId": "rule#group#viewer", block: json.dumps([criterion])}
        self.tables.write(Put(table=CONSTRAINTS, item=item))


@pytest.fixture
def names() -> Names:
    return Names()


@by_field
@pytest.mark.parametrize("value", ["old", ["other", "old"]])
@pytest.mark.parametrize("block", ["criteriaAnd", "criteriaOr"])
def test_a_deleted_name_that_rules_mention_is_for_administrators(
    names: Names, field: str, value: Any, block: str
) -> None:
    names.create(ANN, field)
    names.delete(field)
    names.mention(field, value, block)
    with pytest.raises(PermissionDeniedError, match="old, which was deleted"):
        names.create(ANN, field)
    names.create(ADMIN, field)


@by_field
def test_a_deleted_name_that_no_rule_mentions_is_free(names: Names, field: str) -> None:
    names.create(ANN, field)
    names.delete(field)
    names.mention(field, ["older", "ol"])
    names.mention("assetName", "old", "criteriaOr")
    names.create(ANN, field)


@by_field
def test_a_new_name_is_free_although_rules_mention_it(names: Names, field: str) -> None:
    names.mention(field, "old")
    names.create(ANN, field)
    with pytest.raises(AlreadyExistsError):
        names.create(ANN, field)


def test_the_product_itself_creates_databases_of_any_name(names: Names) -> None:
    names.create(ANN, "databaseId")
    names.delete("databaseId")
    names.mention("databaseId", "old")
    unruled = DeletedNames(DeletedNameRepository(names.tables), SystemOnly())
    unruled.require_unruled(SYSTEM, "databaseId", "old")
