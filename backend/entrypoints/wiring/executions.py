"""Wires executions and their routes."""

from backend.domains.executions.repository.active import ActiveRepository
from backend.domains.executions.repository.rows import ExecutionRepository
from backend.domains.executions.service.commands import ExecutionCommands
from backend.domains.executions.service.progress import ExecutionProgress
from backend.domains.executions.service.queries import ExecutionQueries
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.context import Context, once
from backend.entrypoints.wiring.files import files
from backend.entrypoints.wiring.pipelines import pipelines
from backend.entrypoints.wiring.workflows import workflows


@once
def progress(context: Context) -> ExecutionProgress:
    executions, active = ExecutionRepository(context.tables), ActiveRepository(context.tables)
    return ExecutionProgress(executions, active, context.queues, context.audit, context.clock)


@once
def execution_queries(context: Context) -> ExecutionQueries:
    executions = ExecutionRepository(context.tables)
    return ExecutionQueries(executions, assets(context), context.runs, context.authorization)


def execution_commands(context: Context) -> ExecutionCommands:
    return ExecutionCommands(
        executions=ExecutionRepository(context.tables),
        active=ActiveRepository(context.tables),
        progress=progress(context),
        queries=execution_queries(context),
        workflows=workflows(context),
        pipelines=pipelines(context),
        assets=assets(context),
        files=files(context),
        objects=context.objects,
        runs=context.runs,
        queues=context.queues,
        authorization=context.authorization,
        audit=context.audit,
        clock=context.clock,
    )


def console_link(context: Context, execution_id: str) -> str:
    """Return the address of an execution in the console of Step Functions."""
    machine = context.settings.state_machine
    region = machine.split(":")[3]
    arn = f"{machine.replace(':stateMachine:', ':execution:')}:{execution_id}"
    console = f"https://{region}.console.aws.amazon.com/states/home?region={region}"
    return f"{console}#/v2/executions/details/{arn}"
