"""Wires the audit logs of refusals and of reads to the functions of the API.

Most invocations neither refuse nor return data: the logs are loaded when they are needed.
"""
# ruff: noqa: PLC0415

from typing import TYPE_CHECKING

from backend.aws import clients
from backend.core.denials import Denials, LateDenials
from backend.core.reads import LateReads, Reads
from backend.http.app import HttpApp

if TYPE_CHECKING:
    from backend.entrypoints.wiring import Wiring


def http_app(wiring: "Wiring") -> HttpApp:
    """Return the application that serves the routes of one function."""

    def refusals_of_function() -> Denials:
        from backend.entrypoints.denials import refusals

        return refusals(wiring)

    def reads_of_function() -> Reads:
        from backend.entrypoints.read_log import reads_of

        return reads_of(wiring)

    return HttpApp(
        wiring.authorization,
        wiring.page_tokens,
        watch=wiring.watch,
        denials=LateDenials(refusals_of_function),
        request=wiring.request,
        reads=LateReads(reads_of_function),
        deadline=clients.deadline,
    )
