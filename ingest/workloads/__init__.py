"""Made-up data: each workload yields updates, the same ones for the same plan."""
