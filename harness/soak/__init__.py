"""Random plans on every system under every profile, for hours: each run kept whole, ended and resumed any time, and a table."""
