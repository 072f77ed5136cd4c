"""The cost of MLflow's store on DynamoDB: requests, units, times, and the growth of searches."""
