"""Where encoders fail, why, and how far a number can be trusted: reads results and the data they are of."""
