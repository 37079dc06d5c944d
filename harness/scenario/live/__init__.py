"""A target on real node processes in containers: real sockets, real files, real time."""
