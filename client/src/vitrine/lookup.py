"""Finds an asset by its id, or by its name if that is unambiguous."""

from vitrine.client import Vitrine
from vitrine.errors import NotFoundError, VitrineError
from vitrine.models import Asset
from vitrine.quoting import quote_text


class AmbiguousNameError(VitrineError):
    """Several assets have the name; the message lists their ids."""


def find_asset(client: Vitrine, database_id: str, wanted: str, *, archived: bool = False) -> Asset:
    """Return the asset with that id or, failing that, with that name; optionally `archived` ones.

    Raises:
        NotFoundError: there is none that the caller may see.
        AmbiguousNameError: several have the name.
    """
    try:
        return client.assets.get(database_id, wanted, show_archived=archived or None)
    # An id first: it is unique, and one request; a name needs the whole list.
    except NotFoundError as absent:
        listed = client.assets.list(database_id, show_archived=archived or None)
        named = [asset for asset in listed if asset.asset_name == wanted]
        if not named:
            raise absent from None
    if len(named) > 1:
        ids = ", ".join(sorted(asset.asset_id for asset in named))
        raise AmbiguousNameError(f"several assets are named {quote_text(wanted)}: {ids}")
    return client.assets.get(database_id, named[0].asset_id, show_archived=archived or None)
