"""Running a campaign: its chunks spread, delivered, shown and resumed."""
