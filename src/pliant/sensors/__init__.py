"""What sensors read: the truth at a state, errors on it, and the way from a sample to a reading."""
