"""`python -m ingest http`: updates over HTTP, answered once the broker has written them."""
