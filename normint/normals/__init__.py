"""Normals: maps of them, where their axes point, the camera that saw them, and the slopes they stand for."""
