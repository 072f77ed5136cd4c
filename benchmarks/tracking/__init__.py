"""What MLflow's store on DynamoDB costs: requests, units, times, and how searches grow."""
