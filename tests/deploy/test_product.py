"""The product that the CDK command deploys works, from its published templates and assets.

The local runtime runs the deployed stacks on real engines. The tests run in their order.
"""

from uuid import uuid4

from tests.deploy import console, guide
from tests.deploy.conftest import Running
from tests.deploy.test_stacks import API, UNPROTECT, stacks
from tests.journeys.main import test_whole_path
from tests.journeys.runtime import wait_for

BOOTSTRAP = f"vitrine-{guide.STAGE}-bootstrap"
SECRET = "aws secretsmanager get-secret-value"


def _output(running: Running, key: str) -> str:
    query = f"Stacks[].Outputs[] | [?OutputKey=='{key}'].OutputValue"
    (found,) = running.account.aws(f'aws cloudformation describe-stacks --query "{query}"')
    return str(found)


def test_the_outputs_are_the_address_and_the_key_that_the_page_names(running: Running) -> None:
    endpoint = running.runtime.endpoint
    assert _output(running, "ApiUrl") == endpoint["api"]
    secret = f"{guide.line(SECRET)} {_output(running, 'AdminApiKeySecret')}"
    assert console.run(secret, endpoint["aws"]) == endpoint["adminApiKey"]


def test_the_custom_resource_was_created(running: Running) -> None:
    found = running.account.events(BOOTSTRAP)
    created = [e["LogicalResourceId"] for e in found if e["ResourceStatus"] == "CREATE_COMPLETE"]
    assert "BootstrapRun" in created


def test_the_main_job_succeeds(running: Running) -> None:
    test_whole_path.test_an_asset_from_its_creation_to_its_archive(running.runtime)


def test_an_update_keeps_the_data(running: Running) -> None:
    api = running.runtime.client()
    database = api.new_database(f"kept-{uuid4().hex[:8]}")
    asset = api.new_asset(database, "Locomotive")
    wait_for(lambda: len(api.search(query="locomotive")), 1)
    running.account.deploy("-c", "presignedUrlSeconds=600")
    assert running.account.statuses()[API] == "UPDATE_COMPLETE"
    api = running.runtime.client()
    assert api.ok("GET", f"/database/{database}/assets/{asset}")["assetName"] == "Locomotive"
    wait_for(lambda: len(api.search(query="locomotive")), 1)


def test_a_custom_resource_is_deleted_before_its_function(running: Running) -> None:
    account = running.account
    for name in stacks(account):
        account.aws(guide.line(UNPROTECT, containing=API).replace(API, name))
    identity = account.aws(f"aws cloudformation describe-stacks --stack-name {BOOTSTRAP}")
    account.make(guide.line("make destroy"), "--force")
    assert account.statuses() == {}
    events = account.events(identity["Stacks"][0]["StackId"])
    gone = [e["LogicalResourceId"] for e in events if e["ResourceStatus"] == "DELETE_COMPLETE"]
    assert gone.index("Bootstrap") < gone.index("BootstrapRun")  # the last one is the first
