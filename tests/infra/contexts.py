"""The settings of each assembly that the tests read, besides those of `cdk.json`."""

TOPIC = "arn:aws:sns:eu-central-1:111122223333:operators"
ISSUER = "https://login.example.org/realm"
IMPORTED_KEY = "arn:aws:kms:eu-central-1:444455556666:key/1234abcd-12ab-34cd-56ef-1234567890ab"
VPC = "vpc-0123456789abcdef0"
SUBNETS = [f"subnet-0123456789abcdef{number}" for number in range(3)]
ZONES = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
WEB_URL = "https://museum.example.org"
HARDENED: dict[str, object] = {
    "malwareScan": True,
    "webUrl": WEB_URL,
    "reservedConcurrency": {"SearchApi": 20},
    "searchInVpc": True,
    "searchVpcRange": "10.20.0.0/18",
    "searchLogs": True,
    "userPool": True,
    "userPoolFirewall": True,
    "userPoolRequestsPerAddress": 200,
    "routeThrottles": {
        "search": {"requestsPerSecond": 20, "burst": 40},
        "public": {"requestsPerSecond": 5, "burst": 10},
    },
}
"""Every optional protection."""
_PROD: dict[str, object] = {"stage": "prod", "bundle": False}  # without the layer's packages
# Each assembly takes five seconds of processor time: independent settings share one.
CONTEXTS: dict[str, dict[str, object]] = {
    "local": {"stage": "local"},
    "prod": {**_PROD, "alarmTopicArn": TOPIC},
    "locked": {
        **_PROD,
        "alarmTopicArn": TOPIC,
        "cloudTrail": True,
        "auditLock": "compliance",
        "auditLockDays": 2555,
        "adminUserId": "someone",
        "tracking": True,
        "importedKeys": [IMPORTED_KEY],
        "allowedPipelineFunctions": ["arn:aws:lambda:eu-central-1:111122223333:function:convert"],
        "allowedPipelineQueues": ["arn:aws:sqs:eu-central-1:111122223333:renders"],
        "allowedPipelineBuses": ["arn:aws:events:eu-central-1:111122223333:event-bus/default"],
    },
    "hardened": {**_PROD, **HARDENED, "searchVpcZones": ZONES},
    "without-search": {
        "probe": True,
        "readers": "always",
        "readersInVpc": True,
        "search": "none",
        "accountConcurrency": 10,
        "queueConcurrency": 2,
        "oidcIssuer": ISSUER,
        "oidcClientId": "web",
        "allowedIpRanges": [["192.0.2.1", "192.0.2.9"]],
    },
    "without-key": {
        **_PROD,
        "alarmTopicArn": TOPIC,
        "customerManagedKey": False,
        "malwareScan": True,
    },
    # The local runtime, which reads the others, does not support its security groups.
    "imported-network": {
        **_PROD,
        "searchInVpc": True,
        "searchVpcId": VPC,
        "searchSubnetIds": SUBNETS,
    },
}
