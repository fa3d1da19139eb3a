"""Adapters that show the state of a session; each is imported by its own name and may need an extra."""
