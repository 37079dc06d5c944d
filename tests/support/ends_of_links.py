"""The ends of links that are no brokers."""

CONTROLLER, CLIENTS = 0, -1
