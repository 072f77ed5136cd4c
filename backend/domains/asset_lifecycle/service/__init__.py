"""Commands that archive, restore and delete assets, and the steps of their jobs.

Only the worker imports `jobs.deletion`, because that imports half of all slices.
"""
