"""The declarations from which infrastructure, code, local runtime and documentation derive.

Values only: standard library, no I/O. A fact that the VAMS data model gives (a table, an attribute,
an index, a separator) is written exactly as it is given there; what we chose or added says so.
"""
