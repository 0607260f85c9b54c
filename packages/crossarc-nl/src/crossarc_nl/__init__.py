"""A model for Crossarc: crossarc.load("nl")."""
