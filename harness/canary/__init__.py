"""A canary: clients that write and read a topic of their own in a cluster that exists."""
