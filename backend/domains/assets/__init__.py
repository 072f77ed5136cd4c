"""Assets: the records that own files, with what must be unique about them."""
