"""Outputs: what the pipelines of an execution wrote becomes files, previews and metadata."""
