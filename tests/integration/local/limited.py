"""An addition to the small deployment: a function with few permissions, and a denial."""

from typing import cast

from tests.integration.local.small_deployment import Json, attribute, function, ref, role


def resources() -> Json:
    """A function with few permissions, by two policies of its role, behind `POST /limited`."""
    allowed: Json = {
        "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "sqs:SendMessage", "s3:GetObject", "logs:*"],
        "Resource": [
            attribute("Seen", "Arn"),
            attribute("Work", "Arn"),
            {"Fn::Join": ["", [attribute("Objects", "Arn"), "/open/*"]]},
            "arn:aws:logs:*:*:*",
        ],
    }
    denied: Json = {"Effect": "Deny", "Action": "sqs:*", "NotResource": "arn:aws:logs:*:*:*"}
    return {
        "LimitedRole": role(allowed),
        "LimitedPolicy": {
            "Type": "AWS::IAM::Policy",
            "Properties": {
                "PolicyName": "more",
                "PolicyDocument": {"Version": "2012-10-17", "Statement": [denied]},
                "Roles": [ref("LimitedRole")],
            },
        },
        "Limited": _with_role(function("limited"), "LimitedRole"),
        **_route(),
    }


def _route() -> Json:
    return {
        "LimitedIntegration": {
            "Type": "AWS::ApiGatewayV2::Integration",
            "Properties": {
                "ApiId": ref("Api"),
                "IntegrationType": "AWS_PROXY",
                "IntegrationUri": attribute("Limited", "Arn"),
                "PayloadFormatVersion": "2.0",
            },
        },
        "LimitedRoute": {
            "Type": "AWS::ApiGatewayV2::Route",
            "Properties": {
                "ApiId": ref("Api"),
                "RouteKey": "POST /limited",
                "Target": {"Fn::Join": ["", ["integrations/", ref("LimitedIntegration")]]},
                "AuthorizationType": "NONE",
            },
        },
    }


def _with_role(declared: Json, name: str) -> Json:
    properties = cast("Json", declared["Properties"])
    return {**declared, "Properties": {**properties, "Role": attribute(name, "Arn")}}
