"""The one state machine that runs every workflow, in Amazon States Language with JSONata.

An execution's input names its pipelines (`core/runs.py`), so that no state machine is created at
run time and an execution keeps the workflow that it started with:

    {"pipelines": [{kind, resource, timeout, heartbeat, source, detailType, message}], "run": {…}}

A pipeline receives `{"body": …}`: the fields that the run's pipelines share, its own message, and
the task token if the state machine waits for a callback. Its input is the output of the last
earlier pipeline that wrote files, or else the input of the execution. Once all have ended, the
function ProcessOutput receives the shared fields, repeatedly until it has stored everything.
"""

from typing import Any

from backend.spec.key_layouts import RUNS_PREFIX

NAME = "executions"
"""The suffix of the state machine's physical name, after the deployment's prefix."""
# The Step Functions integration of each pipeline type. `<type>Callback` waits for a task token.
INTEGRATIONS = {
    "Lambda": "lambda:invoke",
    "SQS": "sqs:sendMessage",
    "EventBridge": "events:putEvents",
}
CALLBACK = "Callback"
UNKNOWN_KIND = "UnknownPipelineKind"

# Limit of Step Functions for the input of an execution and the payload of a task. Source: Step
# Functions Developer Guide, "Quotas".
INPUT_BYTES = 262_144
# Limits of Step Functions for the error and cause of a failed execution.
ERROR_CHARS, CAUSE_CHARS = 256, 32_768

# Errors of the services that are retried. A pipeline's own error is not retried, except `STALLED`
# and `_OUTAGE`: the pipeline may have written already.
_BUSY = (
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "SQS.SdkClientException",
    "EventBridge.SdkClientException",
)
# The name of the error class (`core/errors.py`) of the product's functions when a service is
# unavailable, and Lambda's error when it has no instance for a function.
_OUTAGE = ("UnavailableError", "Lambda.TooManyRequestsException")
# The name of the error class (`processing/jail/results.py`) after which a shipped pipeline is
# retried. The file was not read in time for a reason outside the file, and nothing was written.
STALLED = "ReadingStalledError"


def definition(process_output: str | None, *, partition: str = "aws") -> dict[str, Any]:
    """Return the definition; `process_output` is the ARN of the function that stores outputs."""
    following = "ProcessOutput" if process_output else None
    states: dict[str, Any] = {"Pipelines": _pipelines(following, partition)}
    if process_output:
        states |= _outputs(process_output, partition)
    return {
        "Comment": "Runs pipelines one after the other, then stores their outputs",
        "QueryLanguage": "JSONata",
        "StartAt": "Pipelines",
        "States": states,
    }


def _outputs(process_output: str, partition: str) -> dict[str, Any]:
    """Return the states that store outputs.

    ProcessOutput stores a limited number of outputs per call and returns whether more remain.
    """
    return {
        "ProcessOutput": {
            "Type": "Task",
            "Resource": f"arn:{partition}:states:::lambda:invoke",
            "Arguments": {
                "FunctionName": process_output,
                "Payload": {"body": "{% $states.input.run %}"},
            },
            "Retry": [_retry(*_BUSY), _OUTLAST],
            # The input is kept beside the result, so that the next call receives the same.
            "Output": {"run": "{% $states.input.run %}", "stored": "{% $states.result.Payload %}"},
            "Next": "Outputs",
        },
        "Outputs": {
            "Type": "Choice",
            "Choices": [
                {
                    "Condition": "{% $states.input.stored.state = 'more' %}",
                    "Next": "ProcessOutput",
                },
                {
                    "Condition": "{% $states.input.stored.state = 'refused' %}",
                    "Next": "OutputsRefused",
                },
            ],
            "Default": "Stored",
        },
        "OutputsRefused": {
            "Type": "Fail",
            "Error": "{% $states.input.stored.error %}",
            "Cause": "{% $states.input.stored.cause %}",
        },
        "Stored": {"Type": "Succeed", "Output": {}},
    }


def _pipelines(following: str | None, partition: str) -> dict[str, Any]:
    kinds = [(kind, waits) for kind in INTEGRATIONS for waits in (False, True)]
    tasks = {
        (f"{kind}{CALLBACK}" if waits else kind): _task(kind, waits, partition)
        for kind, waits in kinds
    }
    choices = [{"Condition": "{% $states.input.earlier > 0 %}", "Next": "EarlierOutput"}]
    choices += [
        {"Condition": f"{{% $states.input.pipeline.kind = '{name}' %}}", "Next": name}
        for name in tasks
    ]
    return {
        "Type": "Map",
        "Items": "{% $states.input.pipelines %}",
        # One after the other: a pipeline reads the files of the one before.
        "MaxConcurrency": 1,
        "ItemSelector": {
            "pipeline": "{% $states.context.Map.Item.Value %}",
            "run": "{% $states.input.run %}",
            "earlier": "{% $states.context.Map.Item.Index %}",
        },
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "INLINE"},
            "StartAt": "Kind",
            "States": {
                "EarlierOutput": _earlier_output(partition),
                "Kind": {"Type": "Choice", "Choices": choices, "Default": "Unknown"},
                **tasks,
                "Unknown": {
                    "Type": "Fail",
                    "Error": UNKNOWN_KIND,
                    "Cause": "The kind of this pipeline is not known",
                },
            },
        },
        "Output": "{% $states.input %}",
        **({"Next": following} if following else {"End": True}),
    }


def _earlier_output(partition: str) -> dict[str, Any]:
    """Look for files of an earlier pipeline, starting with the last one.

    `earlier` is the number of the pipeline to check, 0 if none is left.
    """
    folder = f"'{RUNS_PREFIX}' & $states.input.run.executionId & '/' & $states.input.earlier"
    changed = (
        "$merge([$states.input.pipeline.message, {'inputS3AssetFilePath': 's3://' "
        "& $states.input.run.bucketAssetAuxiliary & '/' & $states.result.Prefix}])"
    )
    wrote = "$states.result.KeyCount > 0"
    return {
        "Type": "Task",
        "Resource": f"arn:{partition}:states:::aws-sdk:s3:listObjectsV2",
        "Arguments": {
            "Bucket": "{% $states.input.run.bucketAssetAuxiliary %}",
            "Prefix": f"{{% {folder} & '/files/' %}}",
            # Whether there is any file decides.
            "MaxKeys": 1,
        },
        # Nothing that a user declares can fail this step: only an outage.
        "Retry": [{**_OUTLAST, "ErrorEquals": ["States.TaskFailed"]}],
        "Output": {
            "run": "{% $states.input.run %}",
            "earlier": f"{{% {wrote} ? 0 : $states.input.earlier - 1 %}}",
            "pipeline": (
                f"{{% {wrote} ? $merge([$states.input.pipeline, {{'message': {changed}}}]) "
                ": $states.input.pipeline %}"
            ),
        },
        "Next": "Kind",
    }


def _task(kind: str, waits: bool, partition: str) -> dict[str, Any]:
    resource = f"arn:{partition}:states:::{INTEGRATIONS[kind]}"
    task: dict[str, Any] = {
        "Type": "Task",
        "Resource": f"{resource}.waitForTaskToken" if waits else resource,
        "Arguments": _arguments(kind, waits),
        "Output": {},
        "End": True,
    }
    if not waits:
        retries = [_retry(*_BUSY)]
        if kind == "Lambda":
            # A busy machine may have time for the file after 10 and 20 s; then the execution fails
            # with the reason (decision 49).
            retries.append({**_retry(STALLED), "IntervalSeconds": 10, "MaxAttempts": 2})
            retries.append(_OUTLAST)
        return {**task, "Retry": retries}
    # Never retried: the holder of the first token may still be working. A heartbeat has to be below
    # the time-out, so one second less means that none is expected.
    return {
        **task,
        "TimeoutSeconds": "{% $max([$states.input.pipeline.timeout, 2]) %}",
        "HeartbeatSeconds": (
            "{% ($most := $max([$states.input.pipeline.timeout, 2]) - 1; "
            "$given := $states.input.pipeline.heartbeat; "
            "$given > 0 and $given < $most ? $given : $most) %}"
        ),
    }


def _arguments(kind: str, waits: bool) -> dict[str, Any]:
    token = ", {'TaskToken': $states.context.Task.Token}" if waits else ""
    body = {
        "body": f"{{% $merge([$states.input.run, $states.input.pipeline.message{token}]) %}}",
    }
    resource = "{% $states.input.pipeline.resource %}"
    match kind:
        case "Lambda":
            return {"FunctionName": resource, "Payload": body}
        case "SQS":
            return {"QueueUrl": resource, "MessageBody": body}
        case _:
            entry = {
                "EventBusName": resource,
                "Source": "{% $states.input.pipeline.source %}",
                "DetailType": "{% $states.input.pipeline.detailType %}",
                "Detail": body,
            }
            return {"Entries": [entry]}


# For about a day: a file whose pipeline ends by an outage is inspected only once an administrator
# renews it. The pauses, at random, grow to ten minutes, so to five on average.
_OUTLAST = {
    "ErrorEquals": list(_OUTAGE),
    "IntervalSeconds": 5,
    "BackoffRate": 2,
    "MaxDelaySeconds": 600,
    "MaxAttempts": 290,
    "JitterStrategy": "FULL",
}


def _retry(*errors: str) -> dict[str, Any]:
    return {
        "ErrorEquals": list(errors),
        # Up to 5, 10 and 20 s, at random: many executions are throttled at the same moment.
        "IntervalSeconds": 5,
        "BackoffRate": 2,
        "MaxAttempts": 3,
        "JitterStrategy": "FULL",
    }
