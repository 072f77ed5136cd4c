"""Workflows: sequences of pipelines, and the files whose upload runs them."""
