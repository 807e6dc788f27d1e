"""Places in the past, and what is seen there."""
