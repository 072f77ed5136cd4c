"""Search results, typed."""

from enum import StrEnum

from vitrine import api_models
from vitrine.api_models import Facet as Facet
from vitrine.api_models import Histogram as Histogram
from vitrine.api_models import HistogramBucket as HistogramBucket
from vitrine.api_models import Hit as Hit
from vitrine.api_models import Hits as Hits
from vitrine.api_models import Lag as Lag
from vitrine.api_models import MetadataFacetCounts as MetadataFacetCounts
from vitrine.api_models import Missing as Missing
from vitrine.api_models import NamedPreview as NamedPreview
from vitrine.api_models import Preview as Preview
from vitrine.api_models import Total as Total


class EntityType(StrEnum):
    ASSET = "asset"
    FILE = "file"


class HistogramField(StrEnum):
    """The field of a histogram: size or date of files, or date of asset versions."""

    SIZE = "num_filesize"
    MODIFIED = "date_lastmodified"
    VERSIONED = "date_asset_version_createdate"


class SearchResult(api_models.SearchResult):
    """A page of hits, with what was counted.

    `with_all_words` is how many hits have all words of a query with several words, and
    `did_you_mean` a text whose words a document has, where no hit has all of them.
    `assets_found` counts assets where files are folded in; above 10,000 it is an estimate.
    `reindex_due` is what may not be found until a reindex, `files_left_out` why a condition on
    assets does not hold for their files, and `previews_omitted` why the hits have no previews,
    though they were requested.
    """

    @property
    def total(self) -> int:
        return self.hits.total.value
