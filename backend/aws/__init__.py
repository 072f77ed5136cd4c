"""The only package that speaks to AWS and OpenSearch; everything else uses the ports of `core`."""
