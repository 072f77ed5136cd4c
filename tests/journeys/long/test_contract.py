"""Every route against the document, with the cases at the limits of schemas; it takes minutes."""

from pathlib import Path

from tests.journeys.contract import check_contract, create_objects
from tests.journeys.runtime import Runtime


def test_every_route_matches_the_openapi_document(own_runtime: Runtime, tmp_path: Path) -> None:
    own_runtime.up("--in-memory")
    create_objects(own_runtime.client())
    check_contract(own_runtime, tmp_path)
