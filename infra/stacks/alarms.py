"""All alarms, in a stack of their own."""

from aws_cdk import Stack
from constructs import Construct


class AlarmsStack(Stack):
    """Deployed last, so that a failure to create alarms rolls back no other stack.

    The stack imports only values that other stacks export anyway for as long as a release needs
    them: ARNs of queues and of the search domain, and the id of the API. All other resources are
    referenced by literal names. Otherwise CloudFormation would refuse to remove a monitored
    resource, because the stack that exports it is updated before this one.
    """

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name, description="Vitrine: the alarms")
