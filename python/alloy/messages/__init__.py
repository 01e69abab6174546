"""Texts for people: messages with the user's line, names that are not there, tensors and tables as text. Every part of
the package imports them, and they import none."""
