"""Exact inference over dependency trees: score arrays in, trees and numbers out."""
