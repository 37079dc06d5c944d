"""What the logs and files of real Kafka brokers show of losses that are known. Nothing is run, and nothing is sent anywhere."""
