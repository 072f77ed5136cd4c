"""The model's state machine on real engines: a few histories, hundreds in `make prove`."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.amounts import amount
from tests.engines import RealEngines
from tests.integration.model.engine_world import EngineWorld
from tests.integration.tables import TableSet
from tests.model.lifecycle import Lifecycle
from tests.model.running import SETTINGS
from tests.model.world import World

HISTORIES = amount("ENGINE_HISTORIES")


@pytest.mark.usefixtures("aliases")
def test_histories_on_real_engines_end_as_in_the_model(
    engines: RealEngines, table_set: TableSet
) -> None:
    class OnEngines(Lifecycle):
        def make_world(self) -> World:
            return EngineWorld(engines, table_set)

    wanted = settings(SETTINGS, max_examples=HISTORIES, stateful_step_count=25)
    run_state_machine_as_test(OnEngines, settings=wanted)
