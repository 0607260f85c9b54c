"""A model for Crossarc: crossarc.load("pt")."""
