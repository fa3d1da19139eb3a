"""Version 2 in the words of version 1, which state, services and applications use; pure."""
