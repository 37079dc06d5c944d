"""What Kafka's controller decided, read from where it keeps its decisions: ZooKeeper's transaction log, or KRaft's metadata log.

``find_log.open_controller_log`` gives a :class:`~tidemark.nodes.sidecar.controller.controller_log.ControllerLog` for the
machine of node 0.
"""
