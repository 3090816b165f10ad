"""What turns the workbook into a book: Sphinx calls `setup`, and each module does one thing."""

from book import assets, docstrings, launch, lists, notebooks, search


def setup(app):
    """Add everything to Sphinx."""
    for module in (assets, docstrings, launch, lists, notebooks, search):
        module.add_to(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
