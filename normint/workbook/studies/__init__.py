"""The experiments of the notebooks: one file per question."""
