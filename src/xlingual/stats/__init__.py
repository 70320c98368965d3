"""Statistics: intervals of means and medians with clusters."""
