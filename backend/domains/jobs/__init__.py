"""Long work in steps: durable, resumable, each step advanced exactly once."""
