"""Learning weights: MIRA and averaging."""
