"""Imports folders of files and downloads assets: plans, checks and transfers, on top of the SDK."""
