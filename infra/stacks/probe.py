"""A function that reports what Lambda allows: deployed alone, before the other stacks."""

from aws_cdk import Stack
from constructs import Construct

from backend.spec.functions.probe import PROBE
from infra.assets import Folders
from infra.constructs.function import FunctionsOf
from infra.resources import Resources
from infra.settings import Settings


class ProbeStack(Stack):
    """Independent of all other stacks."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, folders: Folders
    ) -> None:
        super().__init__(scope, name, description="Vitrine: what Lambda allows")
        FunctionsOf(self, settings=settings, resources=Resources(), folders=folders).make(PROBE)
