"""What a run is in every world: its meta line, the folder that keeps it, when its cluster has come to rest, and its verdict."""
