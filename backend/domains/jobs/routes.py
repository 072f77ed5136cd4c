"""The routes of jobs."""

from backend.domains.jobs.models import Job, JobPath, JobReply, JobsQuery, JobsReply
from backend.domains.jobs.service.commands import JobService, cancel_refusal
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def build_router(service: JobService) -> Router:
    """Bind the routes of jobs to the service."""
    router = Router()

    def reply(job: Job) -> JobReply:
        allowed = {
            "cancellable": cancel_refusal(job) is None,
            "resumable": service.resume_refusal(job) is None,
        }
        return JobReply.model_validate({**job.model_dump(), **allowed})

    @router.bind(routes.LIST_JOBS)
    def list_jobs(call: Call, query: JobsQuery) -> JobsReply:
        jobs = service.list_jobs(call.caller, call.page(query))
        return JobsReply(
            items=[reply(job) for job in jobs.items], next_token=call.next_token(jobs.after)
        )

    @router.bind(routes.GET_JOB)
    def get_job(call: Call, path: JobPath) -> JobReply:
        return reply(service.get_job(call.caller, path.job_id))

    @router.bind(routes.CANCEL_JOB)
    def cancel_job(call: Call, path: JobPath) -> JobReply:
        return reply(service.cancel_job(call.caller, path.job_id))

    @router.bind(routes.RESUME_JOB)
    def resume_job(call: Call, path: JobPath) -> JobReply:
        return reply(service.resume_job(call.caller, path.job_id))

    return router
