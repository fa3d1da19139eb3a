"""From the messages of each version of the protocol to normalised session events; pure."""
