"""A broker's files, in Kafka's formats.

=====================================================  =========================================================
``volatile/<partition>/00000000000000000000.log``      what the process reads and writes; a tmpfs, as page cache
``volatile/<partition>/written-at``                    when each batch was written; only a power loss asks
``data/<partition>/00000000000000000000.log``          what was fsynced
``data/<partition>/leader-epoch-checkpoint``           durable at once, as are the next two
``data/replication-offset-checkpoint``
``data/.kafka_cleanshutdown``                          there only between a clean shutdown and the next start
``data/.lock``                                         held by the process that uses the directory
=====================================================  =========================================================

The durable log file is a prefix of the volatile one, byte for byte. Where the volatile one is missing (the container was killed,
its tmpfs gone), a start copies the durable one. A crash of the process therefore loses nothing, a container kill loses what was
not synced, and a power loss (:mod:`tidemark.nodes.process.storage.power_loss`) what it likes of the rest.
"""
