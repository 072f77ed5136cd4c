"""Every parameter that says how many: its limit is stated where clients look, and is the real one.

Stock clients send `maxItems` up to 30000, so sizes of pages above the limit are accepted.
"""

import re
from typing import Any

from backend.core.identity import Identity
from backend.core.models import PageQuery
from backend.core.page_tokens import PageTokens
from backend.domains.files.models import FilesQuery
from backend.entrypoints.openapi import bindings, openapi
from backend.http.call import Call
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec import routes

STATED = re.compile(r"(?:(\d+) by default, )?at most (\d+); larger values count as \2\b")
AMOUNTS = re.compile(r"from|size|max[A-Z]\w*")
BINDINGS = list(bindings())


def parameters(binding: Binding) -> dict[str, dict[str, Any]]:
    """The schemas of a route's parameters by name."""
    route = binding.route
    operation = openapi()["paths"][document_path(route)][route.method.lower()]
    return {each["name"]: each["schema"] for each in operation["parameters"]}


def limit_of(binding: Binding, model: type[PageQuery], **sent: Any) -> int:
    """The items of the page that a route lists for this query."""
    call = Call(binding.route, Identity("ann"), {}, {}, {}, PageTokens(lambda: b"key"))
    return call.page(model.model_construct(**sent)).limit


def test_the_stated_limits_of_pages_are_those_of_the_lists_and_larger_values_are_accepted() -> None:
    wrong: list[str] = []
    for binding in BINDINGS:
        model = binding.models.get("query")
        if model is None or not issubclass(model, PageQuery):
            continue
        for name, sent in (("maxItems", "max_items"), ("pageSize", "page_size")):
            schema = parameters(binding)[name]
            stated = STATED.search(schema.get("description", ""))
            if stated is None or "maximum" in schema:
                wrong.append(f"{binding.route.key}: {name} does not state its limit")
                continue
            most = int(stated[2])
            sizes = [most - 1, most, most + 1, 30_000]
            found = [limit_of(binding, model, **{sent: size}) for size in sizes]
            found.append(limit_of(binding, model))
            if found != [most - 1, most, most, most, int(stated[1] or most)]:
                wrong.append(f"{binding.route.key}: {name} states {stated[0]}, lists {found}")
    assert not wrong, "\n".join(wrong)


def test_pages_of_files_without_their_facts_have_a_stated_limit_of_their_own() -> None:
    binding = next(each for each in BINDINGS if each.route == routes.LIST_FILES)
    stated = STATED.search(parameters(binding)["basic"].get("description", ""))
    assert stated is not None
    for sent in ({}, {"max_items": 30_000}):
        assert limit_of(binding, FilesQuery, basic=True, **sent) == int(stated[2])


def test_every_other_amount_has_a_limit_in_its_schema_or_its_description() -> None:
    places = [(binding.route.key, parameters(binding)) for binding in BINDINGS]
    for model, schema in openapi()["components"]["schemas"].items():
        if model.endswith("Body"):
            places.append((model, schema.get("properties", {})))
    unlimited = [
        f"{place} {name}"
        for place, schemas in places
        for name, schema in schemas.items()
        for kinds in ((schema, *schema.get("anyOf", ())),)
        if AMOUNTS.fullmatch(name)
        and any(each.get("type") == "integer" for each in kinds)
        and not any("maximum" in each for each in kinds)
        and not re.search(r"\bat most \d", schema.get("description", ""))
    ]
    assert not unlimited, "\n".join(unlimited)
