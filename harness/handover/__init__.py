"""The archive about one run on real Kafka brokers, for a reader who has no Tidemark: page, brokers' files, how to repeat it."""
