"""Maps resource types to the modules that create them, and lists types without local effect."""

from collections.abc import Mapping

from local import arns
from local.assembly import Resource
from local.resources import (
    cognito,
    dynamodb,
    events,
    functions,
    http_api,
    iam,
    others,
    s3,
    secretsmanager,
    sns,
    sqs,
    stepfunctions,
)
from local.resources.base import Created, Creator

CREATORS: Mapping[str, Creator] = {
    "AWS::ApiGatewayV2::Api": http_api.create_api,
    "AWS::ApiGatewayV2::Authorizer": http_api.create_authorizer,
    "AWS::ApiGatewayV2::Integration": http_api.create_integration,
    "AWS::ApiGatewayV2::Route": http_api.create_route,
    "AWS::ApiGatewayV2::Stage": http_api.create_stage,
    "AWS::CloudFormation::CustomResource": others.create_custom_resource,
    "AWS::Cognito::UserPool": cognito.create_user_pool,
    "AWS::Cognito::UserPoolClient": cognito.create_user_pool_client,
    "AWS::DynamoDB::Table": dynamodb.create_table,
    "AWS::Events::Rule": events.create_rule,
    "AWS::IAM::ManagedPolicy": iam.create_managed_policy,
    "AWS::IAM::Policy": iam.create_policy,
    "AWS::IAM::Role": iam.create_role,
    "AWS::Lambda::EventSourceMapping": functions.create_mapping,
    "AWS::Lambda::Function": functions.create_function,
    "AWS::Lambda::LayerVersion": functions.create_layer,
    "AWS::OpenSearchService::Domain": others.create_search_domain,
    "AWS::S3::Bucket": s3.create_bucket,
    "AWS::SNS::Topic": sns.create_topic,
    "AWS::SQS::Queue": sqs.create_queue,
    "AWS::SSM::Parameter": others.create_parameter,
    "AWS::SecretsManager::Secret": secretsmanager.create_secret,
    "AWS::StepFunctions::StateMachine": stepfunctions.create_state_machine,
}

_ENGINES: Mapping[str, str] = {
    "AWS::DynamoDB::Table": "dynamodb",
    "AWS::OpenSearchService::Domain": "opensearch",
    "AWS::S3::Bucket": "s3",
    "AWS::SQS::Queue": "queues",
    "AWS::StepFunctions::StateMachine": "states",
}

INERT: Mapping[str, str] = {
    "AWS::CDK::Metadata": "tells AWS which constructs were used",
    "AWS::CloudTrail::Trail": "records calls of AWS services, which the engines are not",
    "AWS::CloudWatch::Alarm": "nobody is called from a laptop; metrics are in the logs",
    "AWS::CloudWatch::Dashboard": "shows metrics of AWS",
    "AWS::GuardDuty::MalwareProtectionPlan": "nothing scans; results are sent to the queue by hand",
    "AWS::KMS::Alias": "the engines do not encrypt",
    "AWS::KMS::Key": "the engines do not encrypt",
    "AWS::Lambda::Permission": "gateway, rules and pumps may call every function",
    "AWS::Logs::LogGroup": "functions log into files of the state folder",
    "AWS::Logs::MetricFilter": "metrics are in the logs",
    "AWS::Logs::ResourcePolicy": "functions log into files of the state folder",
    "AWS::S3::BucketPolicy": "the engine's one pair of keys may do everything",
    "AWS::SNS::TopicPolicy": "the engine's one pair of keys may do everything",
    "AWS::SQS::QueuePolicy": "the engine's one pair of keys may do everything",
    "AWS::SecretsManager::ResourcePolicy": "the engine's one pair of keys may do everything",
    "AWS::WAFv2::WebACL": "nobody but this machine reaches the local user pool",
    "AWS::WAFv2::WebACLAssociation": "nobody but this machine reaches the local user pool",
}

_INERT_ARNS: Mapping[str, tuple[str, str]] = {
    "AWS::CloudWatch::Alarm": ("cloudwatch", "alarm:"),
    "AWS::KMS::Key": ("kms", "key/"),
    "AWS::Logs::LogGroup": ("logs", "log-group:"),
    "AWS::WAFv2::WebACL": ("wafv2", "regional/webacl/"),
}


def creator_of(kind: str) -> Creator | None:
    """Return the function that creates resources of this type; None if there is none."""
    if kind.startswith("Custom::"):
        return others.create_custom_resource
    return CREATORS.get(kind)


def engine_of(kind: str) -> str | None:
    """Return the engine of resources of this type; None if they need none, or are in moto."""
    return _ENGINES.get(kind)


def inert_names(resource: Resource) -> Created:
    """Return the names under which others may refer to a resource without effect."""
    name = arns.physical_name(resource.stack, resource.logical_id, limit=255)
    if resource.kind not in _INERT_ARNS:
        return Created(name)
    service, prefix = _INERT_ARNS[resource.kind]
    ending = ":*" if service == "logs" else ""  # as AWS names a log group
    return Created(name, {"Arn": arns.arn(service, prefix + name + ending)})
