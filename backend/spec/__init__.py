"""The declarations from which infrastructure, code, local runtime and documentation derive.

Values only: standard library, no I/O. A fact of the VAMS data model (a table, an attribute, an
index, a separator) is declared exactly as there; our own additions are marked.
"""
