"""What keeps a deployment right, for administrators: failures to replay, dead letters to move."""
