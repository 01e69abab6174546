"""Models of other libraries: their weights."""
