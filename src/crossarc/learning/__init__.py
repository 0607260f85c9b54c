"""Learning weights: MIRA and averaging, support vector machines."""
