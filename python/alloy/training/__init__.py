"""The training loop, and what it calls, measures, shows and saves."""
