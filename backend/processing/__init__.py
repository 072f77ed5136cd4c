"""Reads users' files: facts, references, thumbnail and GLB, each in a process without permissions.

`jail.Jail` is the entry: it runs `inspection.inspect` on one file in a confined child. This package
imports the standard library, its own libraries and `backend.spec` only, so that the child can load
it without the rest of the product.
"""
