"""The methods: one file for each, and what they share."""
