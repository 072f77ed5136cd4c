"""Wires exports."""

from dataclasses import dataclass
from functools import cached_property

from backend.domains.exports.service import ExportService
from backend.entrypoints.asset_links import LinkWiring
from backend.spec.settings import NAME_HIDDEN_ASSETS


@dataclass(eq=False, repr=False)
class ExportWiring(LinkWiring):
    """Creates the services of exports."""

    @cached_property
    def exports(self) -> ExportService:
        return ExportService(
            assets=self.assets,
            files=self.files,
            records=self.records,
            links=self.link_reader,
            objects=self.objects,
            clock=self.clock,
            url_seconds=self.url_seconds,
            names_hidden=self.settings.number(NAME_HIDDEN_ASSETS) == 1,
        )
