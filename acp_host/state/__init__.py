"""What a user interface shows of a session, folded from normalised events by reducers only."""
