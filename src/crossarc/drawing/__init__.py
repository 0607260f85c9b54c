"""Pictures: SVG that needs no other file."""
