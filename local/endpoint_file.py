"""The file `endpoint.json`: addresses and credentials of a running runtime, for scripts."""

from typing import NotRequired, TypedDict


class EndpointFile(TypedDict):
    """The content of `endpoint.json`, on which scripts may rely."""

    api: str
    adminApiKey: str
    opensearch: str
    dynamodb: str
    s3: str
    states: str
    aws: str
    admin: str
    adminToken: str
    accessKey: str
    secretKey: str
    pid: int
    eventFeed: NotRequired[str]
    trackingTable: NotRequired[str]
    trackingArtifacts: NotRequired[str]
