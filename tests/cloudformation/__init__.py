"""A stand-in of AWS CloudFormation for the CDK command, with CloudFormation's own rules.

It creates stacks, not resources: a `Builder` does that, or makes names up. What it does not have is
listed in docs/guides/deploying.md.
"""
