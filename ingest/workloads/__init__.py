"""Made-up data: each workload yields batches of updates, the same ones for the same seed and start."""
