"""History and bulk analysis on Spark: one module per job, each a function on DataFrames and a `main(argv)`."""
