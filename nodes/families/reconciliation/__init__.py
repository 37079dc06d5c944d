"""The seed's "Replication Reconciliation": a follower says where its log ends, the leader whether it differs.

See docs/families/reconciliation.md.
"""
