"""Names and ARNs of the local deployment: one account, one region, all derived from the template.

The engines use ARNs of their own, with another region and account. The ARNs that a template passes
to functions are built here and have the form of those on AWS.
"""

import hashlib
import re
import uuid

REGION = "us-east-1"
ACCOUNT = "000000000000"

_NAMESPACE = uuid.UUID("6f4c1f2e-8b77-4bd5-9a39-2f7b8b0c6a51")


def arn(service: str, resource: str) -> str:
    """Return the ARN of `resource` (with its type prefix) in the local account."""
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def last_part(value: str) -> str:
    """Return the name at the end of an ARN; a plain name is returned unchanged."""
    return value.rsplit(":", maxsplit=1)[-1].rsplit("/", maxsplit=1)[-1]


def stable_id(*parts: str) -> str:
    """Return a UUID derived from the parts: the same parts give the same UUID at every start."""
    return str(uuid.uuid5(_NAMESPACE, "/".join(parts)))


def physical_name(stack: str, logical_id: str, *, limit: int) -> str:
    """Return `stack-logical`; a name above the service's limit is cut and gets a digest."""
    name = f"{stack}-{logical_id}"
    if len(name) <= limit:
        return name
    return f"{name[: limit - 9]}-{_digest(name)}"


def bucket_name(stack: str, logical_id: str) -> str:
    """Return a name that S3's rules for bucket names allow."""
    plain = re.sub(r"[^a-z0-9-]+", "-", f"{stack}-{logical_id}".lower()).strip("-")
    return plain if len(plain) <= 63 else f"{plain[:54]}-{_digest(plain)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
