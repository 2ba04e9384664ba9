"""What the full model A sees of a whole word: its ideal path, and the strokes to its letters."""
