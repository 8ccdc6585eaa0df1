"""`python -m ingest file`: CSV, JSON Lines and Parquet files as updates, resumed where an earlier run ended."""
