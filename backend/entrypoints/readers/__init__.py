"""The functions that read one file each, without permissions, for the pipelines that call them."""
