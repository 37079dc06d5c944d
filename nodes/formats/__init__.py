"""Kafka's formats, on disk and on the wire: bytes in, values out, and back.

Nothing in here knows a protocol, a process or a cluster. Files: record batches (:mod:`~tidemark.nodes.formats.record_batch`),
the message
sets before them (:mod:`~tidemark.nodes.formats.message_set`), segments, checkpoints and what a log directory's files are
called. Wire:
:mod:`tidemark.nodes.formats.wire`.
"""
