"""Comments on versions of assets."""
