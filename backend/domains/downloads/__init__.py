"""Downloads: presigned URLs of files and previews."""
