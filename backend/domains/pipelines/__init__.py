"""Pipelines: functions, queues and event buses that process files, and how they are called."""
