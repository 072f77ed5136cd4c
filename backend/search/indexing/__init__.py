"""Changes reach the indexes: sources are read, documents projected and written."""
