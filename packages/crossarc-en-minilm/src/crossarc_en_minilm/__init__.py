"""A model for Crossarc: crossarc.load("en-minilm")."""
