"""The command line as a whole: names, help and order of the commands."""

import typer

from vitrine.cli import (
    administering,
    auditing,
    browsing,
    commenting,
    constraining,
    describing,
    editing,
    executions,
    explaining,
    exporting,
    facts,
    filing,
    indexes,
    keys,
    lifecycle,
    linking,
    moving,
    operations,
    pipelines,
    reading,
    schemas,
    searching,
    show,
    streaming,
    subscribing,
    tracking,
    uploading,
    versioning,
    workflows,
    writing,
)
from vitrine.cli import buckets as stores
from vitrine.cli import jobs as long_work
from vitrine.cli.usage import Command

HELP = """Store, search and download 3D assets.

Select the deployment with `vitrine login`, with --api and --key, or with VITRINE_API and
VITRINE_API_KEY; for a local runtime, with --endpoint or VITRINE_ENDPOINT. An access token of
the identity provider can be used instead of a key.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied, 5 unavailable.
"""

app = typer.Typer(
    name="vitrine",
    help=HELP,
    cls=Command,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)
databases = typer.Typer(help="Databases.", no_args_is_help=True)
buckets = typer.Typer(help="Buckets that hold assets.", no_args_is_help=True)
tags = typer.Typer(help="Tags.", no_args_is_help=True)
tag_types = typer.Typer(help="Tag types.", no_args_is_help=True)
assets = typer.Typer(help="Assets, without their files.", no_args_is_help=True)
facts_app = typer.Typer(help="Facts of files, for administrators.", no_args_is_help=True)
links = typer.Typer(help="Links between assets.", no_args_is_help=True)
files = typer.Typer(help="Files of assets.", no_args_is_help=True)
comments = typer.Typer(help="Comments on versions of assets.", no_args_is_help=True)
versions = typer.Typer(help="Versions of assets.", no_args_is_help=True)
jobs = typer.Typer(
    help="Jobs: archiving, deleting and other long operations.", no_args_is_help=True
)
uploads = typer.Typer(help="Unfinished uploads.", no_args_is_help=True)
audit = typer.Typer(help="Audit log: who changed what, and when.", no_args_is_help=True)
metadata = typer.Typer(help="Metadata of assets and files.", no_args_is_help=True)
of_databases = typer.Typer(help="Metadata of databases.", no_args_is_help=True)
metadata_schemas = typer.Typer(
    help="Metadata schemas: expected keys and their types.", no_args_is_help=True
)

pipelines_app = typer.Typer(help="Pipelines that process files.", no_args_is_help=True)
executions_app = typer.Typer(help="Workflow executions on assets.", no_args_is_help=True)
workflows_app = typer.Typer(help="Workflows: sequences of pipelines.", no_args_is_help=True)

api_keys = typer.Typer(help="API keys, for administrators.", no_args_is_help=True)
roles = typer.Typer(help="Roles and their users.", no_args_is_help=True)
access = typer.Typer(help="Permissions, for administrators.", no_args_is_help=True)
constraints = typer.Typer(help="Constraints: rules that allow and deny.", no_args_is_help=True)
templates = typer.Typer(help="Permission templates for roles.", no_args_is_help=True)
users = typer.Typer(help="Users who can sign in, and profiles.", no_args_is_help=True)
subscriptions = typer.Typer(
    help="Email notifications about changes of assets.", no_args_is_help=True
)

admin = typer.Typer(help="Operations, for administrators.", no_args_is_help=True)
failures = typer.Typer(help="Changes that could not be indexed or processed.", no_args_is_help=True)
indexes_app = typer.Typer(
    help="Search indexes: state, checks, repair, rebuild.",
    no_args_is_help=True,
)
queues = typer.Typer(help="Queues and their dead letters.", no_args_is_help=True)

app.command("login")(writing.login)
app.command("import")(moving.import_folder)
app.command("import-bucket")(stores.import_bucket)
app.command("search")(searching.search)
app.command("suggest")(searching.suggest)
app.command("ls")(reading.ls)
app.command("get")(reading.get)
app.command("download")(moving.download)
app.command("cat")(streaming.cat)
app.command("ingest")(streaming.ingest)
app.command("export")(exporting.export)
app.command("archive")(lifecycle.archive)
app.command("unarchive")(lifecycle.unarchive)
app.command("delete")(lifecycle.delete)
app.add_typer(databases, name="databases")
app.add_typer(buckets, name="buckets")
app.add_typer(assets, name="assets")
app.add_typer(tags, name="tags")
app.add_typer(tag_types, name="tag-types")
app.add_typer(metadata, name="metadata")
app.add_typer(metadata_schemas, name="metadata-schemas")
databases.add_typer(of_databases, name="metadata")
app.add_typer(files, name="files")
app.add_typer(facts_app, name="facts")
app.add_typer(links, name="links")
app.add_typer(comments, name="comments")
app.add_typer(versions, name="versions")
app.add_typer(pipelines_app, name="pipelines")
app.add_typer(workflows_app, name="workflows")
app.add_typer(executions_app, name="executions")
app.add_typer(jobs, name="jobs")
app.add_typer(uploads, name="uploads")
app.add_typer(audit, name="audit")
app.add_typer(api_keys, name="keys")
app.add_typer(roles, name="roles")
app.add_typer(access, name="access")
access.add_typer(constraints, name="constraints")
access.add_typer(templates, name="template")
app.add_typer(users, name="users")
app.add_typer(subscriptions, name="subscriptions")
app.add_typer(admin, name="admin")
admin.add_typer(failures, name="failures")
admin.add_typer(queues, name="queues")
admin.add_typer(indexes_app, name="search")
app.command("open")(browsing.open_page)
app.command("wait")(moving.wait)
app.command("demo")(moving.demo)
app.command("version")(reading.version)
app.command("settings")(show.settings)
app.command("openapi")(show.openapi)

databases.command("list")(writing.list_databases)
databases.command("create")(writing.create_database)
databases.command("update")(editing.update_database)
databases.command("delete")(writing.delete_database)
databases.command("purge")(writing.purge_database)
buckets.command("list")(stores.list_buckets)
buckets.command("register")(stores.register)
tags.command("list")(writing.list_tags)
tags.command("create")(writing.create_tag)
tags.command("update")(editing.update_tag)
tags.command("delete")(writing.delete_tag)
tag_types.command("list")(editing.list_tag_types)
tag_types.command("create")(editing.create_tag_type)
tag_types.command("update")(editing.update_tag_type)
tag_types.command("delete")(editing.delete_tag_type)
assets.command("create")(editing.create_asset)
assets.command("update")(editing.update_asset)
files.command("show")(show.show_file)
files.command("mkdir")(filing.mkdir)
files.command("move")(filing.move)
files.command("dependencies")(facts.dependencies)
files.command("used-by")(facts.dependents)
files.command("similar")(facts.similar)
files.command("glb")(facts.glb)
files.command("copy")(filing.copy)
files.command("archive")(filing.archive)
files.command("unarchive")(filing.unarchive)
files.command("delete")(filing.delete)
files.command("revert")(filing.revert)
files.command("set-primary")(filing.set_primary)
files.command("delete-preview")(filing.delete_preview)
files.command("delete-auxiliary")(filing.delete_auxiliary)
facts_app.command("renew")(facts.renew)
links.command("list")(linking.list_links)
links.command("show")(linking.show_link)
links.command("create")(linking.create_link)
links.command("edit")(linking.edit_link)
links.command("delete")(linking.delete_link)
links.command("get-metadata")(linking.get_metadata)
links.command("set-metadata")(linking.set_metadata)
comments.command("list")(commenting.list_comments)
comments.command("show")(show.show_comment)
comments.command("add")(commenting.add_comment)
comments.command("edit")(commenting.edit_comment)
comments.command("delete")(commenting.delete_comment)
versions.command("create")(versioning.create)
versions.command("list")(versioning.list_versions)
versions.command("show")(versioning.show)
versions.command("compare")(versioning.compare)
versions.command("update")(versioning.update)
versions.command("archive")(versioning.archive)
versions.command("unarchive")(versioning.unarchive)
versions.command("revert")(versioning.revert)
jobs.command("list")(long_work.list_jobs)
jobs.command("show")(long_work.show)
jobs.command("cancel")(long_work.cancel)
jobs.command("resume")(long_work.resume)
jobs.command("wait")(long_work.wait)
uploads.command("list")(uploading.list_uploads)
uploads.command("show")(uploading.show)
uploads.command("abort")(uploading.abort)
uploads.command("resume")(uploading.resume)
metadata.command("get")(writing.get_metadata)
metadata.command("set")(writing.set_metadata)
metadata.command("remove")(describing.remove_metadata)
of_databases.command("get")(describing.get_of_database)
of_databases.command("set")(describing.set_of_database)
of_databases.command("remove")(describing.remove_of_database)
metadata_schemas.command("list")(schemas.list_schemas)
metadata_schemas.command("show")(schemas.show_schema)
metadata_schemas.command("create")(schemas.create_schema)
metadata_schemas.command("update")(schemas.update_schema)
metadata_schemas.command("delete")(schemas.delete_schema)
pipelines_app.command("list")(pipelines.list_pipelines)
pipelines_app.command("show")(pipelines.show_pipeline)
pipelines_app.command("put")(pipelines.put_pipeline)
pipelines_app.command("enable")(pipelines.enable_pipeline)
pipelines_app.command("disable")(pipelines.disable_pipeline)
pipelines_app.command("delete")(pipelines.delete_pipeline)
workflows_app.command("list")(workflows.list_workflows)
workflows_app.command("show")(workflows.show_workflow)
workflows_app.command("put")(workflows.put_workflow)
workflows_app.command("check")(workflows.check_workflows)
workflows_app.command("delete")(workflows.delete_workflow)
app.command("run")(executions.run)
app.command("runs")(tracking.runs)
executions_app.command("list")(executions.list_executions)
executions_app.command("show")(executions.show_execution)
executions_app.command("stop")(executions.stop_execution)
executions_app.command("rerun")(executions.rerun_execution)
audit.command("list")(auditing.list_entries)
audit.command("value")(auditing.show_value)
api_keys.command("list")(keys.list_keys)
api_keys.command("create")(keys.create_key)
api_keys.command("show")(keys.show_key)
api_keys.command("update")(keys.update_key)
api_keys.command("delete")(keys.delete_key)
roles.command("list")(administering.list_roles)
roles.command("create")(administering.create_role)
roles.command("update")(administering.update_role)
roles.command("delete")(administering.delete_role)
roles.command("users")(administering.list_user_roles)
roles.command("give")(administering.give_roles)
roles.command("set")(administering.set_roles)
roles.command("take")(administering.take_roles)
access.command("explain")(explaining.explain)
constraints.command("list")(constraining.list_constraints)
constraints.command("show")(constraining.show_constraint)
constraints.command("put")(constraining.put_constraint)
constraints.command("check")(constraining.check_constraints)
constraints.command("delete")(constraining.delete_constraint)
templates.command("list")(constraining.list_templates)
templates.command("apply")(constraining.apply_template)
users.command("list")(administering.list_users)
users.command("create")(administering.create_user)
users.command("update")(administering.update_user)
users.command("delete")(administering.delete_user)
users.command("reset-password")(administering.reset_password)
users.command("profile")(administering.show_profile)
subscriptions.command("list")(subscribing.list_subscriptions)
subscriptions.command("add")(subscribing.subscribe)
subscriptions.command("set")(subscribing.set_subscribers)
subscriptions.command("remove")(subscribing.unsubscribe)
subscriptions.command("delete")(subscribing.delete_subscription)
subscriptions.command("check")(subscribing.check)
failures.command("list")(operations.list_failures)
failures.command("show")(operations.show_failure)
failures.command("replay")(operations.replay_failures)
indexes_app.command("fields")(show.fields)
indexes_app.command("status")(indexes.status)
indexes_app.command("check")(indexes.check)
indexes_app.command("repair")(indexes.repair)
indexes_app.command("reindex")(indexes.reindex)
queues.command("list")(operations.list_queues)
queues.command("redrive")(operations.redrive_queue)


def main() -> None:
    """Run the command and exit the process."""
    app()
