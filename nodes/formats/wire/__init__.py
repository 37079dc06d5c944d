"""Kafka's protocol as bytes: frames, the shape of a message before it is decoded, and the codec of each API and version."""
