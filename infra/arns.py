"""The regions and partitions of AWS in the ARNs that settings name."""

# The partition of regions with these prefixes; all other regions are in `aws`. Source: botocore's
# endpoints.
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
}


def region_of(arn: str) -> str:
    """Return the region of an ARN that has one."""
    return arn.split(":")[3]


def partition_of(region: str) -> str:
    """Return the partition of a region."""
    return next((name for start, name in _PARTITIONS.items() if region.startswith(start)), "aws")


def of_its_partition(arn: str) -> str:
    """Return the ARN, or an empty text.

    Raises:
        ValueError: its region is in another partition.
    """
    if not arn:
        return arn
    region = region_of(arn)
    needed = partition_of(region)
    if arn.split(":")[1] != needed:
        raise ValueError(f"must be in the partition {needed}, as its region {region} is")
    return arn
