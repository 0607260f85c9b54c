"""From annotated words to scores: attributes, feature templates, hashed weights."""
