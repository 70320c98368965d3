"""Where data, encoders and the store meet: texts and images become vectors that may be trusted.

Everything an encoder returns is checked here, once, for every encoder: shape, numbers, and that no row it was
fitted on is evaluated. What the store has is not encoded again.
"""
