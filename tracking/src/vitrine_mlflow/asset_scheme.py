"""The URI scheme of assets. It imports nothing: MLflow loads its users while it is imported."""

ASSET_SCHEME = "vitrine"
