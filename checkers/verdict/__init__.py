"""What a verdict is made of: anomalies, how grave they are, and how they are told."""
