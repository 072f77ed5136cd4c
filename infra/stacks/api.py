"""The HTTP API, one function a domain, and the authorizer."""

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from backend.spec.functions import AUTHORIZER, FUNCTIONS
from backend.spec.routes import ROUTES
from infra.assets import Folders
from infra.constructs.function import FunctionsOf
from infra.constructs.http_api import HttpApi
from infra.constructs.naming import output
from infra.resources import Resources
from infra.settings import Settings


class ApiStack(Stack):
    """What clients reach."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        resources: Resources,
        folders: Folders,
    ) -> None:
        super().__init__(scope, name, description="Vitrine: the HTTP API and its functions")
        functions = FunctionsOf(self, settings=settings, resources=resources, folders=folders)
        by_domain: dict[str, lambda_.Function] = {}
        for spec in FUNCTIONS:
            if spec.kind == "api" and spec.domain is not None:
                by_domain[spec.domain] = functions.make(spec)
        api = HttpApi(self, settings=settings, authorizer=functions.make(AUTHORIZER))
        api.add(ROUTES, by_domain)
        output(self, "ApiUrl", api.url, "The address of the REST API")
