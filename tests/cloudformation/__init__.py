"""A stand-in of AWS CloudFormation for the CDK command, with CloudFormation's own rules.

It creates stacks; a `Builder` creates their resources, or invents their names. Missing features are
listed in docs/guides/deploying.md.
"""
