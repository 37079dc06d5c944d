"""A script's steps as a shell script with Kafka's own tools."""
