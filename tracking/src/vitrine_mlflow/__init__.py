"""MLflow tracking on one DynamoDB table. MLflow loads the stores by their entry points."""
