"""BookKeeper's ledgers: one writer, entries on an ensemble of bookies, fencing and recovery (docs/families/bookkeeper.md)."""
