"""One module per family of routes: the methods of the SDK, one request (or listing) each."""
