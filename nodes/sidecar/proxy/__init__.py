"""The proxy in front of a listener that other nodes use: it tells messages apart, and loses, holds or delays them.

A real broker's transport cannot be told to lose a kind of message, so every connection from another machine goes through a proxy
on the machine that accepts it. :mod:`tidemark.nodes.sidecar.proxy.proxy` is the server;
:mod:`tidemark.nodes.admin.message_rules` what it does;
:mod:`~tidemark.nodes.sidecar.proxy.kafka_speech` and :mod:`~tidemark.nodes.sidecar.proxy.zookeeper_speech` what a message is;
:mod:`~tidemark.nodes.sidecar.proxy.connection` joins the two ends, with a :mod:`~tidemark.nodes.sidecar.proxy.direction` each way.
"""
