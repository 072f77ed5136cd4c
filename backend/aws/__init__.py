"""The only package that calls AWS and OpenSearch; all other packages use the ports of `core`."""
