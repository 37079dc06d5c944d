"""Ports of this computer that stay ours from before a node listens until the test is over."""

import socket


def keep_ports(count, kept):
    """Ports that are bound, but nobody listens at them until a node does.

    Args:
        count: how many.
        kept: the exit stack that gives them back.
    """
    sockets = [kept.enter_context(socket.socket()) for _ in range(count)]
    for one in sockets:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", 0))
    return [one.getsockname()[1] for one in sockets]
