"""All alarms, in a stack of their own."""

from aws_cdk import Stack
from constructs import Construct


class AlarmsStack(Stack):
    """Deployed last, so that alarms that fail to be created undo no other stack.

    It imports only what its stacks export anyway for as long as a release needs it: ARNs of queues
    and of the search domain, and the id of the API. Everything else is named by literal names.
    Otherwise, CloudFormation would refuse to remove what an alarm watches, because the stack that
    exports it is updated before this one.
    """

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name, description="Vitrine: the alarms")
