"""The workbook as pages to read: a small static site that needs no network, no kernel and no server."""

from normint.workbook.site.build import build

__all__ = ["build"]
