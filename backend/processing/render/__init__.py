"""A software renderer in numpy: thumbnails without a GPU."""
