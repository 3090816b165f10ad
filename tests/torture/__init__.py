"""Random and hostile trials, as many as time allows: `make torture`, or `python -m tests.torture --help`."""
