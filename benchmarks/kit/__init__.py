"""Parts of benchmarks: rivals, and how they are run. No benchmark by itself."""
