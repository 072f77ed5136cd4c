"""The routes of constraints and of templates of them."""

from backend.core.clock import iso
from backend.core.models import PageQuery
from backend.domains.access.models.constraints import (
    Constraint,
    ConstraintBody,
    ConstraintOperationReply,
    ConstraintPath,
    ConstraintReply,
    ConstraintsReply,
    OneConstraintReply,
)
from backend.domains.access.models.permission_objects import PermissionObjectsReply
from backend.domains.access.models.templates import (
    TemplateImportBody,
    TemplateImportReply,
    TemplatesReply,
)
from backend.domains.access.rules.constraints import both_blocks, changed_meaning
from backend.domains.access.service.constraints import ConstraintService, Written
from backend.domains.access.service.templates import TemplateService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def bind_constraints(router: Router, service: ConstraintService) -> None:
    """Bind the routes of constraints to the service."""

    @router.bind(routes.LIST_CONSTRAINTS)
    def list_constraints(call: Call, query: PageQuery) -> ConstraintsReply:
        page = service.list_constraints(call.caller, call.page(query))
        return ConstraintsReply(
            items=[_reply(item) for item in page.items], next_token=call.next_token(page.after)
        )

    @router.bind(routes.LIST_PERMISSION_OBJECTS)
    def list_permission_objects(call: Call) -> PermissionObjectsReply:
        return PermissionObjectsReply(message=service.list_permission_objects(call.caller))

    @router.bind(routes.GET_CONSTRAINT)
    def get_constraint(call: Call, path: ConstraintPath) -> OneConstraintReply:
        reply = _reply(service.get_constraint(call.caller, path.constraint_id))
        return OneConstraintReply.model_validate({**reply.model_dump(), "constraint": reply})

    @router.bind(routes.CREATE_CONSTRAINT)
    def create_constraint(
        call: Call, path: ConstraintPath, body: ConstraintBody
    ) -> ConstraintOperationReply:
        return _done(service.create_constraint(call.caller, path.constraint_id, body))

    @router.bind(routes.UPDATE_CONSTRAINT)
    def update_constraint(
        call: Call, path: ConstraintPath, body: ConstraintBody
    ) -> ConstraintOperationReply:
        return _done(service.update_constraint(call.caller, path.constraint_id, body))

    @router.bind(routes.DELETE_CONSTRAINT)
    def delete_constraint(call: Call, path: ConstraintPath) -> ConstraintOperationReply:
        service.delete_constraint(call.caller, path.constraint_id)
        return ConstraintOperationReply(
            message=f"Constraint {path.constraint_id} was deleted",
            constraint_id=path.constraint_id,
            operation="delete",
            timestamp=iso(service.clock()),
        )


def bind_templates(router: Router, service: TemplateService) -> None:
    """Bind the routes of templates to the service."""

    @router.bind(routes.LIST_CONSTRAINTS_TEMPLATES)
    def list_constraints_templates(call: Call) -> TemplatesReply:
        return TemplatesReply(items=list(service.list_templates(call.caller)))

    @router.bind(routes.IMPORT_CONSTRAINTS_TEMPLATE)
    def import_constraints_template(call: Call, body: TemplateImportBody) -> TemplateImportReply:
        done = service.import_template(call.caller, body)
        count = len(done.constraint_ids)
        name = f" of the template {body.template.name}" if body.template is not None else ""
        return TemplateImportReply(
            message=f"Role {done.role_name} now has {count} constraints{name}",
            constraints_created=count,
            constraint_ids=done.constraint_ids,
            timestamp=iso(service.constraints.clock()),
            warnings=done.warnings or None,
        )


def _reply(constraint: Constraint) -> ConstraintReply:
    return ConstraintReply.model_validate(
        {**constraint.model_dump(), "changed_meaning": changed_meaning(constraint) or None}
    )


def _done(written: Written) -> ConstraintOperationReply:
    constraint = written.constraint
    return ConstraintOperationReply(
        message=f"Constraint {constraint.constraint_id} was "
        + ("created" if written.is_new else "changed"),
        constraint_id=constraint.constraint_id,
        operation="create" if written.is_new else "update",
        timestamp=constraint.date_modified,
        warnings=written.warnings or None,
        warning=both_blocks(constraint),
    )
