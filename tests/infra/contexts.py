"""The settings of each assembly that the tests read, besides those of `cdk.json`."""

TOPIC = "arn:aws:sns:eu-central-1:111122223333:operators"
ISSUER = "https://login.example.org/realm"
IMPORTED_KEY = "arn:aws:kms:eu-central-1:444455556666:key/1234abcd-12ab-34cd-56ef-1234567890ab"
CERTIFICATE = "arn:aws:acm:us-east-1:111122223333:certificate/1234abcd"
EDGE_VERSION = "1234abcd-12ab-34cd-56ef-1234567890ab"
FIREWALL = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/page/1234abcd"
VPC = "vpc-0123456789abcdef0"
SUBNETS = [f"subnet-0123456789abcdef{number}" for number in range(3)]
ZONES = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
HARDENED: dict[str, object] = {
    "malwareScan": True,
    "webUrl": "https://museum.example.org",
    "reservedConcurrency": {"SearchApi": 20},
    "searchInVpc": True,
    "searchVpcRange": "10.20.0.0/18",
    "searchLogs": True,
    "userPool": True,
    "userPoolFirewall": True,
    "userPoolRequestsPerAddress": 200,
    "userPoolDomain": "museum-models",
    "userPoolProviders": {
        "Okta": {
            "metadataUrl": "https://login.example.org/saml",
            "attributes": {"email": "mail"},
        },
        "Partner": {"issuer": ISSUER, "clientId": "partner", "clientSecret": "partner-sign-in"},
    },
    "routeThrottles": {
        "search": {"requestsPerSecond": 20, "burst": 40},
        "public": {"requestsPerSecond": 5, "burst": 10},
    },
}
"""Every optional protection."""
LOCKED: dict[str, object] = {
    "cloudTrail": True,
    "auditLock": "compliance",
    "auditLockDays": 2555,
    "adminUserId": "someone",
    "tracking": True,
    "eventArchiveDays": 90,
    "importedBuckets": ["scans"],
    "importedKeys": [IMPORTED_KEY],
    "allowedPipelineFunctions": ["arn:aws:lambda:eu-central-1:111122223333:function:convert"],
    "allowedPipelineQueues": ["arn:aws:sqs:eu-central-1:111122223333:renders"],
    "allowedPipelineBuses": ["arn:aws:events:eu-central-1:111122223333:event-bus/default"],
    "detailedRouteMetrics": True,
}
"""A trail, an audit archive that cannot be changed, and resources outside the deployment."""
PAGE: dict[str, object] = {
    "page": True,
    "pageDomain": "models.example.org",
    "pageCertificateArn": CERTIFICATE,
    "pageFirewallArn": FIREWALL,
    "pageSignInOrigins": ["https://tokens.example.org"],
    "pageEdgeVersion": EDGE_VERSION,
    "oidcIssuer": ISSUER,
    "oidcClientId": "web",
    "importedBuckets": ["scans"],
    "allowedIpRanges": ["192.0.2.0/24"],
}
"""The page at a domain, with a provider and an imported bucket."""
IMPORTED_NETWORK: dict[str, object] = {
    "searchInVpc": True,
    "searchVpcId": VPC,
    "searchSubnetIds": SUBNETS,
}
_PROD: dict[str, object] = {"stage": "prod", "alarmTopicArn": TOPIC, "events": "bus"}
# Each assembly takes three seconds of processor time: independent settings share one.
CONTEXTS: dict[str, dict[str, object]] = {
    "small": {"stage": "small", "alarmTopicArn": TOPIC},
    "prod": _PROD,
    "hardened": {**_PROD, **HARDENED, "searchVpcZones": ZONES},
    "locked": {**_PROD, **LOCKED, **IMPORTED_NETWORK},
    "page": {"stage": "small", **PAGE},
    "without-search": {
        "stage": "small",
        "bundle": False,  # which the CDK command refuses
        "page": False,
        "probe": True,
        "readers": "always",
        "readersInVpc": True,
        "malwareScan": True,
        "search": "none",
        "events": "queue",
        "oidcIssuer": ISSUER,
        "oidcClientId": "web",
        "allowedIpRanges": [["192.0.2.1", "192.0.2.9"]],
    },
}
BASES = {
    "prod": "small",
    "hardened": "prod",
    "locked": "prod",
    "page": "small",
    "without-search": "small",
}
"""By assembly the one from which its snapshot contains the differences."""
