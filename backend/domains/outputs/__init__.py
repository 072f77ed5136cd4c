"""Outputs: files, previews and metadata written by the pipelines of an execution."""
