"""What happens to resources that hold data when their stack is deleted."""

from aws_cdk import RemovalPolicy

RETAINED = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""They remain. Only a creation that fails deletes what it has created, so that it can be repeated:
resources that are retained then would belong to no stack."""
