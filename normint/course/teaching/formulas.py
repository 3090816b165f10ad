"""Formulas in HTML: TeX between dollar signs becomes MathML, which browsers draw without any script."""

import re

LONG = 40  # characters of TeX: a formula in a line that may be wider than a phone

_FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|(?<![\\$])\$(?!\s)(?P<inline>[^$]+?)(?<!\s)\$", flags=re.S)


# Browsers ignore mathvariant: a bold letter is a character of its own.
_BOLD = re.compile(r'<mi mathvariant="bold">([A-Za-z])</mi>')


def with_mathml(soup):
    """Replace the formulas in the text of a parsed page; what stands in code is left alone.

    Parameters
    ----------
    soup : bs4.BeautifulSoup
        It is changed in place.
    """
    from bs4 import BeautifulSoup

    for text in soup.find_all(string=_FORMULA):
        if not text.find_parent(["code", "pre", "script", "style"]):
            text.replace_with(BeautifulSoup(_converted(str(text)), "html.parser"))


def _converted(text):
    from html import escape

    from latex2mathml import converter

    def convert(formula, display):
        return _BOLD.sub(_bold, converter.convert(formula.strip(), display=display))

    parts, end = [], 0
    for match in _FORMULA.finditer(text):
        parts.append(escape(text[end : match.start()]))
        if match["block"]:  # a frame of its own, in which a formula wider than a phone can be moved
            formula = convert(match["block"], "block")
            parts.append(f'<span class="formula">{formula}</span>')
        else:
            formula = convert(match["inline"], "inline")
            long = len(match["inline"]) > LONG
            parts.append(f'<span class="long">{formula}</span>' if long else formula)
        end = match.end()
    return "".join(parts) + escape(text[end:])


def _bold(match):
    letter = match[1]
    begin, code = ("A", 0x1D400) if letter.isupper() else ("a", 0x1D41A)
    return f"<mi>{chr(code + ord(letter) - ord(begin))}</mi>"
