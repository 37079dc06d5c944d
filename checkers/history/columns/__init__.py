"""The operations of clients as columns of numbers, so that ten million of them fit into memory and are judged at once."""
