"""Images as files, as numbers to restore from a few of them, and as bytes to compare with codecs."""
