"""Links between assets: parent and child, or related; their graph has no cycle."""
