"""Prometheus: what it scrapes, records and warns of."""
