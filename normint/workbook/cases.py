"""What the results call each method."""

from normint.integration import METHODS

# As figures do, but for least squares, which the rows of `results.csv` call by its name in the code.
CASES = {name: method.label for name, method in METHODS.items()} | {"quadratic": "quadratic"}
