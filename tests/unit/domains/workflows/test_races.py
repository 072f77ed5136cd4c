"""Two requests that change the same pipeline, workflow or database at once."""

from collections.abc import Callable, Sequence

import pytest

from backend.core.transactions import Write
from backend.spec import routes
from backend.spec.tables.workflows import PIPELINES, WORKFLOWS
from tests.factories.workflows import pipeline_body, workflow_body
from tests.unit.domains.definitions import Definitions

CONVERT = {"databaseId": "museum", "pipelineId": "convert"}
PUBLISH = {"databaseId": "museum", "workflowId": "publish"}


@pytest.fixture
def before_the_next_transaction(
    definitions: Definitions, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], object]], None]:
    """Another request comes between what the next one reads and what it writes."""
    tables = definitions.product.tables
    transact = tables.transact

    def interrupt(request: Callable[[], object]) -> None:
        waiting = [request]

        def interrupted(writes: Sequence[Write]) -> None:
            if waiting:
                waiting.pop()()
            transact(writes)

        monkeypatch.setattr(tables, "transact", interrupted)

    return interrupt


Interrupt = Callable[[Callable[[], object]], None]


def test_a_pipeline_that_is_deleted_meanwhile_gets_into_no_workflow(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    before_the_next_transaction(lambda: definitions.done(routes.DELETE_PIPELINE, **CONVERT))
    status, fields, _ = definitions.refused(routes.PUT_WORKFLOW, workflow_body())
    assert (status, fields) == (400, ["specifiedPipelines.functions.0.name"])
    assert not definitions.product.tables.rows(WORKFLOWS)


def test_a_pipeline_that_is_used_meanwhile_is_not_deleted(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    before_the_next_transaction(lambda: definitions.done(routes.PUT_WORKFLOW, workflow_body()))
    assert definitions.refused(routes.DELETE_PIPELINE, **CONVERT)[0] == 400
    assert definitions.pipeline()["pipelineId"] == "convert"


def test_a_workflow_takes_what_its_pipeline_has_become(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body(inputParameters="1"))
    changed = pipeline_body(inputParameters="2")
    before_the_next_transaction(lambda: definitions.done(routes.PUT_PIPELINE, changed))
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    (function,) = definitions.workflow()["specifiedPipelines"]["functions"]
    assert function["inputParameters"] == "2"


def test_a_database_that_gets_a_pipeline_meanwhile_is_not_deleted(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    before_the_next_transaction(lambda: definitions.done(routes.PUT_PIPELINE, pipeline_body()))
    assert definitions.refused(routes.DELETE_DATABASE, databaseId="museum")[0] == 409
    assert definitions.pipeline()["pipelineId"] == "convert"


def test_a_database_that_is_deleted_meanwhile_gets_no_pipeline(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    before_the_next_transaction(
        lambda: definitions.done(routes.DELETE_DATABASE, databaseId="museum")
    )
    status, fields, _ = definitions.refused(routes.PUT_PIPELINE, pipeline_body())
    assert (status, fields) == (400, ["databaseId"])
    assert not definitions.product.tables.rows(PIPELINES)


def test_a_workflow_that_is_deleted_meanwhile_is_not_restored_by_its_pipeline(
    definitions: Definitions, before_the_next_transaction: Interrupt
) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    before_the_next_transaction(lambda: definitions.done(routes.DELETE_WORKFLOW, **PUBLISH))
    changed = pipeline_body(description="Converts more", updateAssociatedWorkflows=True)
    definitions.done(routes.PUT_PIPELINE, changed)
    assert definitions.send(routes.GET_WORKFLOW, **PUBLISH).status == 404
    definitions.done(routes.DELETE_PIPELINE, **CONVERT)
