"""The training loop, with its callbacks, measures, messages and files."""
