"""A stage on real node processes in containers: real sockets, real files, real time."""
