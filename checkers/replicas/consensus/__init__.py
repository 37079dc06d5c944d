"""What must hold where a majority decides, and there is no ISR: Raft's invariants (Ongaro and Ousterhout, 2014, figure 3).

*Election safety* is `two-leaders`, *leader completeness* has the same name here (`leader-completeness`).
"""
