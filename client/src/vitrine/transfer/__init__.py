"""Moving folders of files in and assets out: plans, checks and bytes, on top of the SDK."""
