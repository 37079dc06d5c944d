"""The same troubles on several systems side by side: what each lost, and how long it could not be written to."""
