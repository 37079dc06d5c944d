"""The seed's high-water mark: a leader pushes, the index that a quorum has is the high-water mark (docs/families/quorum.md)."""
