"""The generated reference pages match the current declarations."""

import json

import pytest

from docs.generate import COSTS, REFERENCE, pages
from docs.idle_costs import idle_costs
from docs.web_declarations import FILE, web_declarations

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == PAGES[name], "run: make docs"


def test_every_reference_page_is_generated() -> None:
    assert {path.name for path in REFERENCE.iterdir()} == {*PAGES, COSTS}


def test_the_declarations_of_the_web_page_are_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == web_declarations(), "run: make docs"


def test_the_page_on_costs_has_the_prices_and_units_of_today() -> None:
    # The rest of the page is measured; the part `costs` compares it.
    assert "\n".join(idle_costs()) in (REFERENCE / COSTS).read_text(encoding="utf-8")


def test_every_schema_of_the_api_has_a_name_of_its_own() -> None:
    # If two models have one name, the path of the module is part of both names.
    schemas = json.loads(PAGES["openapi.json"])["components"]["schemas"]
    assert [name for name in schemas if "__" in name] == []
