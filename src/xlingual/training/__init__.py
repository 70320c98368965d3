"""Training: losses, samplers of batches, one fit loop, and the recipes that use them."""
