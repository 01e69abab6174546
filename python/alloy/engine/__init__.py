"""The engine's classes as Python completes them, and the values that it takes: element types, arrays, structures."""
