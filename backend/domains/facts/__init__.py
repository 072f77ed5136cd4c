"""Facts of files: data that the product extracts from their content."""
