"""The command `vitrine`: reads options, calls the SDK, prints. It decides nothing else."""
