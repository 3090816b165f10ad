"""Gradients that are larger than the memory: integrated tile by tile, to the same surface as in one piece."""
