"""One file per kind of request."""
