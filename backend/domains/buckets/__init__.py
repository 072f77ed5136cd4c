"""Asset buckets: where the files of assets stand."""
