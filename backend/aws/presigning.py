"""Presigned URLs of objects, without a call of the S3 client for each.

The client resolves its endpoint and serializes the operation for each URL, which takes three
fifths of the time: 0.4 ms, where signing alone takes 0.15.

A URL names the request that issued it, as a signed parameter. S3 ignores parameters that begin with
`x-`, and writes them to its access logs. (Source: Amazon S3 User Guide, "Amazon S3 server access
log format", custom access log information.)
"""

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from botocore.awsrequest import AWSRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.signers import RequestSigner
    from mypy_boto3_s3 import S3Client


class UrlSigner:
    """Signs URLs with the addresses and the credentials of an S3 client."""

    def __init__(self, client: "S3Client") -> None:
        self._client = client
        self._signers: list[RequestSigner] = []
        self._addresses: dict[str, str] = {}
        client.meta.events.register("before-sign.s3", self._keep_signer)

    def sign(
        self, operation: str, bucket: str, key: str, query: "Mapping[str, str]", expires: int
    ) -> str:
        """Return a URL of a key for `GetObject`, `PutObject` or `UploadPart` with a query."""
        method = "GET" if operation == "GetObject" else "PUT"
        path = quote(key, safe="/~")
        if bucket not in self._addresses:
            parameters = {"Bucket": bucket, "Key": key}
            if "versionId" in query:
                parameters["VersionId"] = query["versionId"]
            url = self._client.generate_presigned_url(f"{method.lower()}_object", parameters)
            self._addresses[bucket] = url.partition("?")[0].removesuffix(path)
        request = AWSRequest(method, self._addresses[bucket] + path, params=dict(query))
        # Reads the credentials again, which may have been renewed.
        self._signers[0].sign(operation, request, signing_type="presign-url", expires_in=expires)
        return str(request.url)

    def _keep_signer(self, request_signer: "RequestSigner", **_: Any) -> None:
        if not self._signers:
            self._signers.append(request_signer)
