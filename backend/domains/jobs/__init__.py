"""Long operations in steps: durable, resumable, each step counted exactly once."""
