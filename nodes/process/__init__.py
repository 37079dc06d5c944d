"""The node process: the protocol core driven with sockets and files, one process per node container.

What the core (:mod:`nodes`) leaves to its driver is here: :mod:`tidemark.nodes.process.storage` keeps the logs and the
checkpoint files. Unlike the core, this package does I/O, and it may import more than the standard library.
"""
