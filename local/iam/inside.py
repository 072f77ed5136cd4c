"""Runs inside the process of a function: checks the role's policies before each call.

The runner starts it in place of AWS's runtime client, with the file of the policies. It adds hooks
to botocore and opensearch-py where they send requests, and then runs as that client. It can also
enter a box (`local/box.py`) before it imports the handler. botocore passes the parameters of every
call, and the URLs that it signs: a presigned URL that its signer may not use is refused when it is
created (AWS refuses it when it is used).

Two kinds of requests are not checked: those that a function sends without these two libraries, and
presigned POSTs, which are not supported. This module uses only the standard library, and imports no
module of the function early.
"""

import importlib.abc
import importlib.util
import json
import runpy
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

_ROOT = str(Path(__file__).resolve().parents[2])

if TYPE_CHECKING or __name__ != "__main__":
    from local import box
    from local.iam import actions, policy
else:
    # The runner's own package can be imported by these modules only, not by the function.
    sys.path.insert(0, _ROOT)
    from local import box
    from local.iam import actions, policy

    sys.path.remove(_ROOT)
    for _name in [name for name in sys.modules if name.partition(".")[0] == "local"]:
        del sys.modules[_name]


class _Form(NamedTuple):
    """A refusal in a service's form: code, status."""

    code: str
    status: int


# S3 and SQS name a denial differently from the services below.
_FORMS = {
    "s3": _Form("AccessDenied", 403),
    "sqs": _Form("AccessDenied", 403),
}
# The form in which DynamoDB and the other JSON services refuse.
_OTHERS = _Form("AccessDeniedException", 400)
_BODILESS = _Form("403", 403)  # HEAD: S3's reply has no body, so botocore has the status only
_ABSENT = 404
_MAY_BE_ABSENT = frozenset({"GetObject", "HeadObject"})


class Guard:
    """Decides for one function; `refusal` is AWS's text, or None."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """Read the policies of the function's role."""
        self._principal: str = document["principal"]
        self._role: str = document["role"]
        self._policies = policy.Policies(document["statements"])
        self._place = actions.Place(document["region"], document["account"], document["keys"])
        self._domain: str | None = document["domain"]
        self.record: str | None = document["record"]
        self._recorded: set[tuple[str, policy.Grant]] = set()

    def refusal(self, need: actions.Need) -> str | None:
        """Return the message with which AWS refuses the request; None if it is allowed."""
        if need is actions.NOTHING:
            return None
        context = {"kms:ViaService": need.via} if need.via else None
        decision = self._policies.decide(need.action, need.resource, context)
        if decision.allowed:
            if self.record is not None:
                self._record_use(need.action, decision.grants)
            return None
        why = (
            "with an explicit deny in an identity-based policy"
            if decision.denied
            else f"because no identity-based policy allows the {need.action} action"
        )
        return (
            f"User: {self._principal} is not authorized to perform: {need.action} "
            f"on resource: {need.resource} {why}"
        )

    def of_call(self, service: str, operation: str, parameters: actions.Parameters) -> str | None:
        """Return the first refusal of a call of the SDK.

        Raises:
            UnknownCallError: its needs are not declared.
        """
        required = actions.needs(service, operation, parameters, self._place)
        return next((text for need in required if (text := self.refusal(need))), None)

    def of_search(self, method: str, path: str) -> str | None:
        """Return the refusal of a request to the search domain."""
        if self._domain is None:
            return f"User: {self._principal} is not authorized: there is no search domain"
        return self.refusal(actions.search_need(method, path, self._domain))

    def of_absence(self, parameters: actions.Parameters) -> str | None:
        """Return the refusal to reveal that an object does not exist."""
        return self.refusal(actions.listing(parameters))

    def _record_use(self, action: str, grants: tuple[policy.Grant, ...]) -> None:
        """Record the first use of a grant; one short line is appended as a whole."""
        fresh = [grant for grant in grants if (action, grant) not in self._recorded]
        for grant in fresh:
            self._recorded.add((action, grant))
            line = json.dumps({"role": self._role, "asked": action, "used": grant})
            with open(str(self.record), "a", encoding="utf-8") as file:  # noqa: PTH123
                file.write(line + "\n")


def _refuse(service: str, operation: str, text: str | None) -> None:
    """Raise a refusal in the form of a service, if there is one."""
    from botocore.exceptions import ClientError  # noqa: PLC0415 - of the function's own packages

    if text is None:
        return
    form = _FORMS.get(service, _OTHERS)
    if operation.startswith("Head"):
        form = _BODILESS
    sys.stderr.write(f"[IAM] {operation}: {text}\n")
    error = {"Code": form.code, "Message": "Forbidden" if form is _BODILESS else text}
    answer: Any = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": form.status}}
    raise ClientError(answer, operation)


def watch_botocore(guard: Guard, handlers: Any) -> None:
    """Check each call of clients that are created from now on (`handlers` are botocore's)."""

    def check_call(params: Any, model: Any, context: Any, **_: object) -> None:
        service = model.service_model.service_name
        _refuse(service, model.name, guard.of_call(service, model.name, params))
        context["iam_checked"] = True
        if service == "s3" and model.name in _MAY_BE_ABSENT:
            context["iam_parameters"] = params

    def check_url(request: Any, operation_name: str, **_: object) -> None:
        if "iam_checked" in request.context:
            return
        # Signed without a call: there are no parameters. URLs of the local store name the bucket.
        path = urlsplit(str(request.url)).path
        bucket, _slash, key = unquote(path)[1:].partition("/")
        parameters = {"Bucket": bucket, "Key": key, "VersionId": request.params.get("versionId")}
        _refuse("s3", operation_name, guard.of_call("s3", operation_name, parameters))

    def hide_absence(http_response: Any, model: Any, context: Any, **_: object) -> None:
        if http_response.status_code == _ABSENT and "iam_parameters" in context:
            _refuse("s3", model.name, guard.of_absence(context["iam_parameters"]))

    handlers.BUILTIN_HANDLERS.append(("before-parameter-build", check_call))
    handlers.BUILTIN_HANDLERS.append(("before-sign.s3", check_url))
    handlers.BUILTIN_HANDLERS.append(("after-call.s3", hide_absence))


def watch_opensearch(guard: Guard, connection: Any) -> None:
    """Check each request of opensearch-py's connection (the module with its class)."""
    kind = connection.Urllib3HttpConnection
    perform = kind.perform_request

    def perform_request(self: Any, method: str, url: str, *more: Any, **named: Any) -> Any:
        text = guard.of_search(method, self.url_prefix + url)
        if text is not None:
            sys.stderr.write(f"[IAM] {method} {url}: {text}\n")
            self._raise_error(403, json.dumps({"Message": text}), "application/json")
        return perform(self, method, url, *more, **named)

    kind.perform_request = perform_request


class _Watcher(importlib.abc.MetaPathFinder):
    """Calls back when a module has been imported, at any time."""

    def __init__(self, wanted: Mapping[str, Callable[[Any], None]]) -> None:
        self._wanted = dict(wanted)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        del path, target
        then = self._wanted.pop(fullname, None)
        if then is None:
            return None
        spec = importlib.util.find_spec(fullname)  # by the finders after this one
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, then)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, then: Callable[[Any], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then(module)


def install(document: Path) -> Guard:
    """Enforce the policies in `document` for all calls of this process."""
    guard = Guard(json.loads(document.read_text(encoding="utf-8")))
    watched: dict[str, Callable[[Any], None]] = {
        "botocore.handlers": lambda module: watch_botocore(guard, module),
        "opensearchpy.connection.http_urllib3": lambda module: watch_opensearch(guard, module),
    }
    sys.meta_path.insert(0, _Watcher(watched))
    return guard


def enter_box(name: str, guard: Guard | None) -> None:
    """Enter a box, in which the use of grants can still be recorded."""
    record = guard and guard.record
    if record is not None:
        Path(record).touch()
    box.enter(name, writable=() if record is None else (Path(record),))


def main() -> None:
    """Run AWS's runtime client: `inside.py [--policies DOCUMENT] [--box NAME] HANDLER`."""
    *options, handler = sys.argv[1:]
    values = dict(zip(options[::2], options[1::2], strict=True))
    guard = install(Path(values["--policies"])) if "--policies" in values else None
    if "--box" in values:
        enter_box(values["--box"], guard)
    sys.argv = ["awslambdaric", handler]
    runpy.run_module("awslambdaric", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
