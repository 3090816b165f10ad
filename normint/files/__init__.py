"""Everything that is read from disk or written to it: checked when read, all or nothing when written."""
