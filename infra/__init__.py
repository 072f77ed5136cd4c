"""The infrastructure, as a CDK app: what `backend.spec` declares becomes CloudFormation.

It imports only `backend.spec` of the product. Importing this package chooses the Node that CDK's
kernel runs on, so it must come before the first import of `aws_cdk`.
"""

from infra.node import choose_node

choose_node()
