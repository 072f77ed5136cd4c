"""Asset buckets, in which the files of assets are stored."""
