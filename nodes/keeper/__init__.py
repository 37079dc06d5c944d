"""The keeper: the process beside a program that somebody else wrote, of any protocol.

It starts the program as its child, says when it is ready, keeps a ledger of what the program has synced, and offers the admin port
and the trace file of Tidemark's own nodes; of what the program does inside, nobody here knows anything.
"""
