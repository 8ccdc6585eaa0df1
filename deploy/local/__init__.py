"""The local stack: a real Kafka in one command, without Docker."""
