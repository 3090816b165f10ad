"""The one linear problem underneath every method: a weighted 5-point system on a masked grid."""
