"""Uploads by presigned multipart: files reach an asset only through here."""
