"""The bad agents themselves, a module for each thing that they get wrong."""
