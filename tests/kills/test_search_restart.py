"""A version of a document survives a kill of OpenSearch: a late writer is still refused."""

from dataclasses import replace

from tests.integration.conftest import Deployment, search_engine
from tests.integration.indexing.conftest import OwnSearch, world_of
from tests.integration.indexing.test_delivery import late_writer_is_refused


def test_a_writer_that_comes_after_a_delete_and_a_restart_is_refused(
    deployment: Deployment, own_search: OwnSearch
) -> None:
    world = world_of(replace(deployment, engine=search_engine(own_search.url)))
    late_writer_is_refused(world, own_search.kill_and_start)
