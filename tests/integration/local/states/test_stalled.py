"""A reader that hangs is ended and retried, and the reason becomes a fact of its file.

The state machine, its retries (30 s at most), the tables and the confined process are real.
"""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from backend.aws.runs import StepFunctionsRuns
from backend.aws.settings import Settings
from backend.core.paging import PageRequest
from backend.domains.facts.repository import FactRepository
from backend.domains.metadata.models import Entity
from backend.domains.workflows.models import own_function
from backend.entrypoints.inspection import Inspector
from backend.processing.jail import parent
from backend.processing.jail.parent import Jail
from backend.processing.jail.results import ReadingStalledError
from backend.spec.formats import EXTENSIONS_OF
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.shipped import INSPECT
from tests.factories.executions import BUCKET, Runner
from tests.integration.local.states.conftest import FunctionError, Site
from tests.integration.processing.test_inspecting import FakeWorkFiles
from tests.integration.tables import TableSet
from tests.unit.processing import samples

KEY = "statue/a.obj"
ATTRIBUTES = Entity("museum", "statue", "/a.obj", "attribute")
_IMPORT = "from backend.processing.jail.template import main; "
_SLEEPS = (
    "import time; from backend.processing.jail import child; "
    "child.inspect = lambda *_, **__: time.sleep(600); "
)


@pytest.fixture
def sleeping(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jail]:
    """A jail whose readers sleep, as one that a file controls may."""
    start: str = vars(parent)["_START"]
    assert start.count(_IMPORT) == 1
    monkeypatch.setattr(parent, "_START", start.replace(_IMPORT, _IMPORT + _SLEEPS))
    jail = Jail(seconds=0.5)
    yield jail
    jail.close()


@pytest.fixture
def runner(site: Site, table_set: TableSet, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Executions on the real state machine and tables."""
    settings = Settings(
        {"EXECUTIONS_STATE_MACHINE_ARN": site.machine, "EXECUTIONS_ALLOWED_ARNS": ""}
    )
    runs: Any = StepFunctionsRuns(site.client, settings)
    made = Runner(tables=cast("Any", table_set.tables), runs=runs)
    made.define(
        INSPECT.id,
        database_id="GLOBAL",
        pipelines=[("GLOBAL", INSPECT.id)],
        triggers=INSPECT.triggers,
        user_provided_resource=own_function(INSPECT.function).text,
    )
    monkeypatch.setitem(site.functions.handlers, "on-status", made.report)
    return made


def test_a_reader_that_sleeps_leaves_the_reason_as_a_fact(
    site: Site, runner: Runner, sleeping: Jail
) -> None:
    files = FakeWorkFiles()
    files.objects[BUCKET, KEY] = samples.cube_obj()
    inspector = Inspector(files, sleeping, EXTENSIONS_OF["Inspect"])
    ends: list[str] = []

    def inspect(event: Any) -> object:
        try:
            return inspector.handle(event)
        except ReadingStalledError as error:
            ends.append(str(error))
            raise FunctionError(type(error).__name__, str(error)) from error

    site.functions.handlers[INSPECT.function] = inspect
    version = runner.upload(KEY)
    runner.trigger(KEY)
    runner.start()
    (started,) = runner.active.list_admitted()
    site.wait_for(lambda: runner.status_of(started.execution_id) == "FAILED", seconds=60)
    assert len(ends) == 3
    messages = runner.queues.visible(UPLOAD_TRIGGERS)
    assert runner.triggers({"Records": runner.queues.receive(messages)}) == {
        "batchItemFailures": []
    }
    result = {
        record.metadata_key: record.metadata_value
        for record in runner.records.records_of(ATTRIBUTES)
    }
    reason = result.pop("fact_refused")
    assert reason == f"The inspection failed: {ends[-1]}"
    assert "in 0.5 seconds" in reason
    assert result == {"fact_sourceVersionId": version}
    (inspected,) = FactRepository(runner.tables).list_inspected(None, PageRequest(9)).items
    assert inspected.is_old, "the next renewal reads it again"
