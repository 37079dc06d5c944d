"""Model against reality: the same script in the simulator, in our containers and on real Apache Kafka, held side by side.

What is compared is told in docs/conform.md. Every difference is either *known*, with the sentence in `harness.conform.findings`
that says what it is, or *unexplained*, and then somebody has to look.
"""
