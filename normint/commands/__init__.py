"""The subcommands of `normint` that need more than a function in :mod:`normint.cli`."""
