"""Model against reality: the same script in the simulator, in our containers and on real Apache Kafka, held side by side.

What is compared is told in docs/conform.md. Every difference is either *known*, with the sentence that says what it is in
`tidemark.harness.conform.known_differences`, or *unexplained*, and then somebody has to look.
"""
