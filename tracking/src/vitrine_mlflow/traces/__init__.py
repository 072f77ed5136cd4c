"""Traces: their spans, tags, assessments and links."""
