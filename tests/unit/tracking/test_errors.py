"""Failures of DynamoDB become one sentence that names the table and what is missing."""

import mlflow
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from mlflow.exceptions import MlflowException
from vitrine_mlflow.errors import translate_errors

assert mlflow.__version__  # MLflow loads this package as a plugin, so it must come first


def _client_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "Query")


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (
            _client_error("AccessDeniedException"),
            "PERMISSION_DENIED",
            (
                "Access to the DynamoDB table 'runs' was denied: the credentials need the "
                "permission dynamodb:Query."
            ),
        ),
        (
            _client_error("ResourceNotFoundException"),
            "INVALID_STATE",
            (
                "The DynamoDB table 'runs' does not exist in region 'eu-west-1', or it lacks the "
                "indexes of this version."
            ),
        ),
        (
            _client_error("ThrottlingException"),
            "TEMPORARILY_UNAVAILABLE",
            "The DynamoDB table 'runs' throttled Query on 'EXP#7'.",
        ),
        (
            _client_error("ItemCollectionSizeLimitExceededException"),
            "INVALID_STATE",
            (
                "The partition 'EXP#7' of the table 'runs' has reached DynamoDB's limit of 10 GB; "
                "log to another experiment, or delete runs and traces for good with `mlflow gc`."
            ),
        ),
        (
            NoCredentialsError(),
            "PERMISSION_DENIED",
            "No AWS credentials were found to call Query on the table 'runs'.",
        ),
        (
            EndpointConnectionError(endpoint_url="http://x"),
            "TEMPORARILY_UNAVAILABLE",
            (
                "Query on the table 'runs' in region 'eu-west-1' failed: Could not connect to the "
                'endpoint URL: "http://x"'
            ),
        ),
    ],
)
def test_a_failure_names_the_table(failure: Exception, code: str, message: str) -> None:
    with (
        pytest.raises(MlflowException) as reported,
        translate_errors("runs", "eu-west-1", "Query", "EXP#7"),
    ):
        raise failure
    assert reported.value.error_code == code
    assert reported.value.message == message
