"""Uploads by presigned multipart URLs: the only way for users' files into an asset."""
