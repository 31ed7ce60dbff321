"""What several rooms do together: evidence in, session out."""
