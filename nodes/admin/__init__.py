"""What the harness may ask of every node, of ours and of one beside a real broker: the admin port and the trace file.

With it what both kinds of process need for that: the configuration file, rules for messages, the power loss command.
"""
