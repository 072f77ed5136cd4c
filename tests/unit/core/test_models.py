"""How fields are named on the wire."""

import importlib
import pkgutil

import pytest
from pydantic.alias_generators import to_camel

import backend
from backend.core.models import WireModel, camel


def _all_fields() -> set[str]:
    for module in pkgutil.walk_packages(backend.__path__, "backend."):
        if ".models" in module.name:
            importlib.import_module(module.name)
    models, found = [WireModel], set[str]()
    while models:
        model = models.pop()
        models += model.__subclasses__()
        found |= {name for name, field in model.model_fields.items() if field.alias_priority != 2}
    return found


def test_every_field_has_the_name_that_pydantic_would_give_it() -> None:
    fields = _all_fields()
    assert len(fields) > 200
    assert [name for name in fields if camel(name) != to_camel(name)] == []


@pytest.mark.parametrize(
    ("name", "on_the_wire"), [("asset_id", "assetId"), ("etag", "etag"), ("is_a_b", "isAB")]
)
def test_a_field_is_told_in_camel_case(name: str, on_the_wire: str) -> None:
    assert camel(name) == on_the_wire
