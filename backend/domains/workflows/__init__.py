"""Workflows: sequences of pipelines, and the uploads that start them."""
