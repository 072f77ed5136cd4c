"""Pipelines: functions, queues and event buses that process files, with how they are called."""
