"""Configuration: what clients must know before they do anything else."""
