"""The infrastructure, as a CDK app: renders the declarations of `backend.spec` as CloudFormation.

It imports only `backend.spec` of the product. Importing this package chooses the Node on which
CDK's kernel runs, so it must be imported before `aws_cdk`.
"""

from infra.node import choose_node

choose_node()
