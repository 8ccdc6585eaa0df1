"""What services share: configuration, Kafka clients, metrics, health, shutdown. The only impure part of the library."""
