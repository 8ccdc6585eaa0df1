"""`python -m deploy.images.connector`: Spark's Kafka connector into the image's cache, verified."""

from __future__ import annotations

from deploy.local.jars import SPARK_KAFKA, jars

if __name__ == "__main__":
    print(f"{len(jars(SPARK_KAFKA))} jars")
