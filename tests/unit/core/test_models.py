"""The names of fields on the wire, and the meaning of null."""

import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

import backend
from backend.core.models import SentModel, WireModel, camel


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
def test_a_field_is_named_in_camel_case(name: str, on_the_wire: str) -> None:
    assert camel(name) == on_the_wire


class _Part(SentModel):
    kind: str = "plain"


class _Sent(SentModel):
    name: str
    most_items: int = 3
    note: str | None = "none yet"
    anything: Any = 0
    parts: list[_Part] = []


def test_null_means_the_same_as_leaving_out() -> None:
    sent = {"name": "a", "mostItems": None, "parts": None}
    assert _Sent.model_validate(sent, strict=True) == _Sent(name="a")
    assert _Sent.model_validate({"name": "a", "most_items": None}) == _Sent(name="a")
    deeper = _Sent.model_validate({"name": "a", "parts": [{"kind": None}]})
    assert deeper.parts == [_Part(kind="plain")]


def test_null_is_a_value_where_it_may_be_one() -> None:
    found = _Sent.model_validate({"name": "a", "note": None, "anything": None})
    assert (found.note, found.anything) == (None, None)


def test_null_is_refused_where_a_value_is_demanded() -> None:
    with pytest.raises(ValidationError, match="valid string"):
        _Sent.model_validate({"name": None})


def test_null_is_documented_where_it_is_accepted() -> None:
    found = _Sent.model_json_schema()["properties"]
    null = {"type": "null"}
    assert found["mostItems"]["anyOf"] == [{"type": "integer"}, null]
    assert found["mostItems"]["default"] == 3
    assert (null in found["note"]["anyOf"], "anyOf" in found["name"]) == (True, False)
    replied = _Sent.model_json_schema(mode="serialization")["properties"]
    assert replied["mostItems"]["type"] == "integer"
