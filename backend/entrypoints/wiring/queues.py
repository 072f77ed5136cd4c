"""Wires the administration of queues."""

from backend.aws import clients
from backend.aws.dead_letters import SqsDeadLetters
from backend.entrypoints.wiring.audit import audit_notes
from backend.entrypoints.wiring.context import Context
from backend.operations.queues import QueueService
from backend.spec.queues import QUEUES


def queue_service(context: Context) -> QueueService:
    dead_letters = SqsDeadLetters(clients.at_first_use(clients.sqs), context.settings)
    deployed = [queue for queue in QUEUES if context.settings.deploys(queue)]
    return QueueService(dead_letters, context.authorization, audit_notes(context), deployed)
