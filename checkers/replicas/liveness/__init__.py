"""Liveness while faults strike: what has to go on, and by when, around those whom no fault holds back.

After healing, everything has to come to rest (`stuck`). Before that, a broker may be judged as soon as nothing is wrong with it and
with the controller: a partition has to find a leader among such brokers, its leader has to put out of the ISR who cannot follow,
and sends have to succeed where the whole ISR is well. By when, follows from the run's own settings (`Bounds`).
"""
