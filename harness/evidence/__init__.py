"""What the nodes leave behind, and what it comes to: their files fetched, their traces read, their logs replayed and compared."""
