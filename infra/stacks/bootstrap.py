"""The function that sets up a new deployment; CloudFormation runs it on every change."""

from aws_cdk import CustomResource, Duration, Stack
from constructs import Construct

from backend.spec.functions.operations import BOOTSTRAP
from infra.assets import Folders
from infra.constructs.function import FunctionsOf
from infra.constructs.naming import name_exactly, output
from infra.declarations import declarations_hash
from infra.resources import Resources
from infra.settings import Settings


class BootstrapStack(Stack):
    """Deployed after storage and search, and before the stacks that receive requests or events."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        resources: Resources,
        folders: Folders,
    ) -> None:
        super().__init__(scope, name, description="Vitrine: what a new deployment needs first")
        functions = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        function = functions.make(BOOTSTRAP)
        values = settings.environment()
        own = {setting.name: values[setting.name] for setting in BOOTSTRAP.settings}
        resource = CustomResource(
            self,
            "BootstrapRun",
            service_token=function.function_arn,
            resource_type="Custom::Bootstrap",
            properties={
                "Declarations": declarations_hash(
                    own | {"search": settings.search, "userPool": str(settings.user_pool)}
                )
            }
            | ({} if settings.search_in_vpc else settings.instances_needed()),
            service_timeout=Duration.seconds(BOOTSTRAP.timeout_seconds + 60),
        )
        name_exactly(resource, "BootstrapRun")
        account = resource.get_att_string("Account")
        output(self, "Account", account, "Whether Lambda's quota is enough for the stage")
