"""What families share whose servers elect a leader by majority votes: the process, the elections, the clients' requests."""
