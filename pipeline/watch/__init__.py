"""Following a campaign while it runs."""
