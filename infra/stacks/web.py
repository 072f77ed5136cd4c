"""The page on AWS: its files, and CloudFront in front of them and of the API (decision 85)."""

from typing import cast

from aws_cdk import ArnFormat, Aws, CustomResource, Duration, SecretValue, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct

from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.operations import BOOTSTRAP
from backend.spec.page import PAGE_RECORD, PROOF_HEADER, SESSION_COOKIE
from backend.spec.secrets import PAGE_EDGE_KEY
from infra.constructs.logs import log_group
from infra.constructs.naming import name_exactly, output
from infra.constructs.page_sign_in import declared_page_sign_in
from infra.constructs.state_machine import physical_name
from infra.constructs.updates import RETAINED
from infra.page import FIXED, PREFIX, Page
from infra.resources import Resources
from infra.settings import Settings
from web_page import policy_of

# The time in which API Gateway answers, and which CloudFront allows without a higher quota.
API_SECONDS = 30
_YEAR = Duration.days(365)
_PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class WebStack(Stack):
    """A distribution: the page below `/ui/`, everything else is the API."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, resources: Resources, page: Page
    ) -> None:
        super().__init__(scope, name, description="Vitrine: the page")
        self._page = page
        bucket = self._bucket()
        edge = self._edge_function()
        distribution = self._distribution(settings, resources, bucket, edge)
        self._deploy(settings, resources, bucket, distribution)
        domain = settings.page_domain or distribution.domain_name
        url = f"https://{domain}/ui/"
        output(self, "PageUrl", url, "The address of the page")
        # A record in a table: the stacks before this one cannot refer to it, as it needs the API.
        sign_in = declared_page_sign_in(self, settings=settings, resources=resources, page_url=url)
        of_pool = (
            {} if sign_in is None else {"Issuer": sign_in.issuer, "ClientId": sign_in.client_id}
        )
        function = physical_name(settings, BOOTSTRAP.name)
        record = CustomResource(
            self,
            "PageRecord",
            service_token=self.format_arn(
                service="lambda",
                resource="function",
                resource_name=function,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            resource_type=PAGE_RECORD,
            properties={"Url": url} | of_pool,
            service_timeout=Duration.seconds(BOOTSTRAP.timeout_seconds + 60),
        )
        name_exactly(record, "PageRecord")

    def _bucket(self) -> s3.Bucket:
        # Files of earlier releases stay: open tabs load them. A release has 6 MB.
        bucket = s3.Bucket(
            self,
            "PageBucket",
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            encryption=s3.BucketEncryption.S3_MANAGED,
            removal_policy=RETAINED,
        )
        name_exactly(bucket, "PageBucket")
        return bucket

    def _edge_function(self) -> list[cloudfront.FunctionAssociation]:
        function = cloudfront.Function(
            self,
            "PageEdge",
            code=cloudfront.FunctionCode.from_inline(self._page.edge_function()),
            runtime=cloudfront.FunctionRuntime.JS_2_0,
            comment="Addresses of the page, and the address of the viewer",
        )
        event = cloudfront.FunctionEventType.VIEWER_REQUEST
        return [cloudfront.FunctionAssociation(event_type=event, function=function)]

    def _distribution(
        self,
        settings: Settings,
        resources: Resources,
        bucket: s3.Bucket,
        edge: list[cloudfront.FunctionAssociation],
    ) -> cloudfront.Distribution:
        proof = SecretValue.secrets_manager(
            resources.secrets[PAGE_EDGE_KEY.name].secret_arn,
            version_id=settings.page_edge_version or None,
        )
        api = origins.HttpOrigin(
            f"{resources.api}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}",
            origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
            read_timeout=Duration.seconds(API_SECONDS),
            # CloudFormation reads the value; the template has its name.
            custom_headers={PROOF_HEADER: proof.unsafe_unwrap()},
        )
        secure = cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS
        files = origins.S3BucketOrigin.with_origin_access_control(
            cast("s3.IBucket", bucket),
            # With `ListBucket` a missing file is 404 instead of 403.
            origin_access_levels=[cloudfront.AccessLevel.READ, cloudfront.AccessLevel.LIST],
        )
        certificate = settings.page_certificate_arn
        # No error pages: they would replace the API's 403 and 404 with HTML.
        distribution = cloudfront.Distribution(
            self,
            "PageDistribution",
            comment=f"vitrine-{settings.stage}",
            default_behavior=cloudfront.BehaviorOptions(
                origin=cast("cloudfront.IOrigin", api),
                viewer_protocol_policy=secure,
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                origin_request_policy=self._requests(),
                function_associations=edge,
            ),
            additional_behaviors={
                f"/{PREFIX}/*": cloudfront.BehaviorOptions(
                    origin=files,
                    viewer_protocol_policy=secure,
                    compress=True,
                    response_headers_policy=self._headers(settings, resources),
                    function_associations=edge,
                )
            },
            certificate=acm.Certificate.from_certificate_arn(self, "Certificate", certificate)
            if certificate
            else None,
            domain_names=[settings.page_domain] if settings.page_domain else None,
            web_acl_id=settings.page_firewall_arn or None,
        )
        name_exactly(distribution, "PageDistribution")
        return distribution

    def _requests(self) -> cloudfront.OriginRequestPolicy:
        """Return what CloudFront forwards to the API."""
        return cloudfront.OriginRequestPolicy(
            self,
            "ApiRequests",
            # API Gateway knows its APIs by `Host`. If no cookie were sent to the origin, CloudFront
            # would also remove `Set-Cookie` from replies.
            header_behavior=cloudfront.OriginRequestHeaderBehavior.deny_list("host"),
            cookie_behavior=cloudfront.OriginRequestCookieBehavior.allow_list(SESSION_COOKIE),
            query_string_behavior=cloudfront.OriginRequestQueryStringBehavior.all(),
        )

    def _headers(
        self, settings: Settings, resources: Resources
    ) -> cloudfront.ResponseHeadersPolicy:
        declared = (resources.buckets[spec.name] for spec in (ASSET_BUCKET, AUXILIARY_BUCKET))
        # By their names, which storage exports for functions, too.
        names = (*(bucket.bucket_name for bucket in declared), *settings.imported_buckets)
        hosts = tuple(f"https://{name}.s3.{Aws.REGION}.{Aws.URL_SUFFIX}" for name in names)
        policy = policy_of(hosts, set(settings.sign_in_origins()))
        behavior = cloudfront.ResponseSecurityHeadersBehavior(
            content_security_policy=cloudfront.ResponseHeadersContentSecurityPolicy(
                content_security_policy=policy, override=True
            ),
            content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
            referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                referrer_policy=cloudfront.HeadersReferrerPolicy.NO_REFERRER, override=True
            ),
            strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                access_control_max_age=_YEAR, override=True
            ),
        )
        more = {
            "Permissions-Policy": _PERMISSIONS,
            "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
        }
        return cloudfront.ResponseHeadersPolicy(
            self,
            "PageHeaders",
            security_headers_behavior=behavior,
            custom_headers_behavior=cloudfront.ResponseCustomHeadersBehavior(
                custom_headers=[
                    cloudfront.ResponseCustomHeader(header=header, value=value, override=True)
                    for header, value in more.items()
                ]
            ),
        )

    def _deploy(
        self,
        settings: Settings,
        resources: Resources,
        bucket: s3.Bucket,
        distribution: cloudfront.Distribution,
    ) -> None:
        """Upload the fixed files, then the document and others, then invalidate the document."""
        days = settings.log_retention_days
        logs = log_group(self, "PageDeploymentLogs", days=days, key=resources.key)
        folder = self._page.folder
        fixed = deployment.BucketDeployment(
            self,
            "PageFixedFiles",
            sources=[deployment.Source.asset(str(folder / FIXED))],
            destination_bucket=cast("s3.IBucket", bucket),
            destination_key_prefix=f"{PREFIX}/{FIXED}",
            cache_control=[
                deployment.CacheControl.from_string("public, max-age=31536000, immutable")
            ],
            prune=False,
            log_group=logs,
        )
        document = deployment.BucketDeployment(
            self,
            "PageDocument",
            sources=[deployment.Source.asset(str(folder), exclude=[FIXED])],
            destination_bucket=cast("s3.IBucket", bucket),
            destination_key_prefix=PREFIX,
            cache_control=[deployment.CacheControl.no_cache()],
            prune=False,
            log_group=logs,
            distribution=distribution,
            distribution_paths=[f"/{PREFIX}/index.html"],
        )
        document.node.add_dependency(fixed)
