"""A small deployment as CDK would write it, with one resource of each supported kind."""

import json
import shutil
from pathlib import Path

Json = dict[str, object]
_ASSET = Path(__file__).parent / "asset"
_ROOT = Path(__file__).parents[3]


def ref(name: str) -> Json:
    """Return a reference."""
    return {"Ref": name}


def attribute(name: str, wanted: str) -> Json:
    """Return a reference to an attribute."""
    return {"Fn::GetAtt": [name, wanted]}


def function(handler: str, *, timeout: int = 10, **environment: object) -> Json:
    """Return a function of the asset."""
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": {"S3Bucket": "assets", "S3Key": "code.zip"},
            "Handler": f"product.{handler}",
            "Runtime": "python3.13",
            "Timeout": timeout,
            "Layers": [ref("Layer")],
            "Environment": {"Variables": environment},
            "Role": attribute("Role", "Arn"),
        },
    }


def role(*statements: Json) -> Json:
    """Return a role with these statements."""
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {"Policies": [{"PolicyName": "all", "PolicyDocument": document}]},
    }


def resources(custom: Json) -> Json:
    """Return the resources; `custom` are the properties of the custom resource."""
    return {
        "Role": role({"Effect": "Allow", "Action": "*", "Resource": "*"}),
        "Layer": {
            "Type": "AWS::Lambda::LayerVersion",
            "Properties": {"Content": {"S3Bucket": "assets", "S3Key": "layer.zip"}},
        },
        **_tables(),
        **_api(),
        **_stream(),
        **_queue(),
        "Key": {
            "Type": "AWS::SecretsManager::Secret",
            "Properties": {
                "GenerateSecretString": {"PasswordLength": 40, "ExcludePunctuation": True}
            },
        },
        "CustomFunction": function("custom"),
        "Custom": {
            "Type": "Custom::Small",
            "Properties": {"ServiceToken": attribute("CustomFunction", "Arn"), **custom},
            "DependsOn": ["Source", "Objects"],
        },
    }


def _table(name: str, **more: object) -> Json:
    return {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
            **more,
        },
    }


def _tables() -> Json:
    return {
        "Source": _table("Source", StreamSpecification={"StreamViewType": "NEW_IMAGE"}),
        "Seen": _table(
            "Seen", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
        ),
        "Indexed": _table(
            "Indexed",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("id", "sort", "other")
            ],
            KeySchema=[
                {"AttributeName": "id", "KeyType": "HASH"},
                {"AttributeName": "sort", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "byOther",
                    "KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]},
                }
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "localOther",
                    "KeySchema": [
                        {"AttributeName": "id", "KeyType": "HASH"},
                        {"AttributeName": "other", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        ),
    }


def _route(key: str, *, open_to_all: bool = True, to: str = "Integration") -> Json:
    return {
        "Type": "AWS::ApiGatewayV2::Route",
        "Properties": {
            "ApiId": ref("Api"),
            "RouteKey": key,
            "Target": {"Fn::Join": ["", ["integrations/", ref(to)]]},
            "AuthorizationType": "NONE" if open_to_all else "CUSTOM",
            **({} if open_to_all else {"AuthorizerId": ref("Authorizer")}),
        },
    }


def _uri(name: str) -> Json:
    parts: list[object] = [
        *("arn:", ref("AWS::Partition"), ":apigateway:", ref("AWS::Region")),
        *(":lambda:path/2015-03-31/functions/", attribute(name, "Arn"), "/invocations"),
    ]
    return {"Fn::Join": ["", parts]}


def _api() -> Json:
    return {
        "ApiFunction": function("api", timeout=5, GREETING="hello", TABLE_Seen=ref("Seen")),
        "AuthorizerFunction": function("authorizer"),
        **_gateway(),
        "Integration": _integration("ApiFunction"),
        # Only here: with other functions, a process that starts on a busy machine may take longer.
        "SleepFunction": function("api", timeout=3),
        "HastyIntegration": _integration("SleepFunction", TimeoutInMillis=2000),
        **_authorizer(),
        "AnyRoute": _route("ANY /{path}"),
        "SleepRoute": _route("GET /sleep", to="HastyIntegration"),
        "GetRoute": _route("GET /items/{id}/parts/{rest+}"),
        "SafeRoute": _route("GET /safe", open_to_all=False),
    }


def _integration(of: str, **more: object) -> Json:
    return {
        "Type": "AWS::ApiGatewayV2::Integration",
        "Properties": {
            "ApiId": ref("Api"),
            "IntegrationType": "AWS_PROXY",
            "IntegrationUri": attribute(of, "Arn"),
            "PayloadFormatVersion": "2.0",
            **more,
        },
    }


def _gateway() -> Json:
    return {
        "Api": {
            "Type": "AWS::ApiGatewayV2::Api",
            "Properties": {
                "Name": "small",
                "ProtocolType": "HTTP",
                "CorsConfiguration": {
                    "AllowOrigins": ["https://web.example"],
                    "AllowMethods": ["GET", "PUT"],
                    "AllowHeaders": ["authorization"],
                    "MaxAge": 60,
                },
            },
        },
        "Stage": {
            "Type": "AWS::ApiGatewayV2::Stage",
            "Properties": {"ApiId": ref("Api"), "StageName": "$default", "AutoDeploy": True},
        },
    }


def _authorizer() -> Json:
    return {
        "Authorizer": {
            "Type": "AWS::ApiGatewayV2::Authorizer",
            "Properties": {
                "ApiId": ref("Api"),
                "Name": "small",
                "AuthorizerType": "REQUEST",
                "AuthorizerUri": _uri("AuthorizerFunction"),
                "AuthorizerPayloadFormatVersion": "2.0",
                "EnableSimpleResponses": True,
                "IdentitySource": ["$request.header.Authorization"],
                "AuthorizerResultTtlInSeconds": 2,
            },
        },
    }


def _stream() -> Json:
    return {
        "Failures": {"Type": "AWS::S3::Bucket", "Properties": {}},
        "Consumer": function("consumer", TABLE_Seen=ref("Seen")),
        "StreamMapping": {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": {
                "EventSourceArn": attribute("Source", "StreamArn"),
                "FunctionName": ref("Consumer"),
                "BatchSize": 100,
                "MaximumBatchingWindowInSeconds": 1,
                "StartingPosition": "TRIM_HORIZON",
                "MaximumRetryAttempts": 1,
                "BisectBatchOnFunctionError": True,
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "DestinationConfig": {"OnFailure": {"Destination": attribute("Failures", "Arn")}},
            },
            "DependsOn": ["Custom"],
        },
    }


def _queue() -> Json:
    return {
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": {}},
        "Work": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 4}},
        # Only here, with short time-outs: other functions may need the time on a busy machine.
        "Hasty": {
            "Type": "AWS::SQS::Queue",
            "Properties": {
                "VisibilityTimeout": 2,
                "RedrivePolicy": {
                    "deadLetterTargetArn": attribute("Dead", "Arn"),
                    "maxReceiveCount": 2,
                },
            },
        },
        "HastyMapping": _mapping("Hasty"),
        "Patient": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 300}},
        "PatientMapping": _mapping("Patient"),
        "Worker": function("worker", TABLE_Seen=ref("Seen")),
        "QueueMapping": _mapping("Work", ScalingConfig={"MaximumConcurrency": 2}),
        **_objects(),
    }


def _mapping(queue: str, **more: object) -> Json:
    return {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "EventSourceArn": attribute(queue, "Arn"),
            "FunctionName": ref("Worker"),
            "BatchSize": 10,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            **more,
        },
    }


def _objects() -> Json:
    return {
        "Objects": {
            "Type": "AWS::S3::Bucket",
            "Properties": {
                "VersioningConfiguration": {"Status": "Enabled"},
                "NotificationConfiguration": {
                    "EventBridgeConfiguration": {"EventBridgeEnabled": True}
                },
            },
        },
        "ObjectsRule": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": {
                    "source": ["aws.s3"],
                    "detail-type": ["Object Created", "Object Deleted"],
                    "detail": {"bucket": {"name": [ref("Objects")]}},
                },
                "State": "ENABLED",
                "Targets": [{"Id": "Target0", "Arn": attribute("Work", "Arn")}],
            },
        },
    }


def outputs() -> Json:
    """Return the outputs."""
    values: dict[str, object] = {
        "AdminApiKeySecret": ref("Key"),
        "CustomAsked": attribute("Custom", "Asked"),
    }
    return {name: {"Value": value} for name, value in values.items()}


def write(folder: Path, *, custom: Json | None = None, extra: Json | None = None) -> Path:
    """Write the assembly into `folder`; `extra` are additional resources."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_assets(folder)
    template: Json = {
        "Resources": {**resources(custom or {"Version": 1}), **(extra or {})},
        "Outputs": outputs(),
    }
    for name, content in (
        ("small.template.json", template),
        ("small.assets.json", _asset_manifest()),
        ("manifest.json", _manifest()),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _write_assets(folder: Path) -> None:
    code = folder / "asset.code"
    shutil.rmtree(code, ignore_errors=True)
    shutil.copytree(_ASSET, code, ignore=shutil.ignore_patterns("__pycache__"))
    layer = folder / "asset.layer"
    layer.mkdir(exist_ok=True)
    (layer / "requirements.txt").write_text(_pinned("six"), encoding="utf-8")


def _asset_manifest() -> Json:
    files = {
        name: {
            "source": {"path": f"asset.{name}", "packaging": "zip"},
            "destinations": {"here": {"bucketName": "assets", "objectKey": f"{name}.zip"}},
        }
        for name in ("code", "layer")
    }
    return {"version": "48.0.0", "files": files}


def _manifest() -> Json:
    return {
        "version": "48.0.0",
        "artifacts": {
            "small.assets": {
                "type": "cdk:asset-manifest",
                "properties": {"file": "small.assets.json"},
            },
            "small": {
                "type": "aws:cloudformation:stack",
                "properties": {"templateFile": "small.template.json"},
                "dependencies": ["small.assets"],
            },
        },
    }


def _pinned(package: str) -> str:
    """Return the entry of a package in the repository's lock."""
    lines = (_ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{package}=="))
    entry = [lines[first]]
    for line in lines[first + 1 :]:
        if not line.lstrip().startswith("--hash"):
            break
        entry.append(line)
    return "".join(entry).rstrip("\\\n ") + "\n"
