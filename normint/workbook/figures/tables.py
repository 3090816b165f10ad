"""A table as a picture."""

from normint.workbook.figures.canvas import PAGE, SMALL, new_figure


def table(rows, columns, *, colours=None, caption="", widths=None):
    """Draw a table.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells; the first of each row names it.
    columns : sequence of str
        Headings, as many as there are cells in a row.
    colours : sequence of sequences of str, optional
        Background of every cell.
    caption : str
        Written below, from the left; it may have several lines.
    widths : sequence of float, optional
        Relative widths of the columns; by default as wide as their longest lines.
    """
    lines = max(cell.count("\n") + 1 for row in rows for cell in row)
    height = 0.24 + 0.19 * lines
    size = 1.5 + 1.25 * len(columns), height * (len(rows) + 1.6) + 0.3 + 0.15 * caption.count("\n")
    figure = new_figure(*size)
    axes = figure.add_subplot()
    axes.set_axis_off()
    figure.set_figwidth(min(figure.get_figwidth(), PAGE))
    columns = [heading.replace(" ", "\n") for heading in columns]
    longest = [max(len(line) for cell in column for line in cell.split("\n"))
               for column in zip(columns, *rows, strict=True)]  # fmt: skip
    widths = widths or [length + 2 for length in longest]
    drawn = axes.table(
        cellText=rows, colLabels=columns, cellColours=colours, cellLoc="center", bbox=(0, 0, 1, 1),
        colWidths=[width / sum(widths) for width in widths],
    )  # fmt: skip
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(SMALL)
    for (row, column), cell in drawn.get_celld().items():
        cell.set_edgecolor("0.8")
        if row == 0 or column == 0:
            cell.get_text().set_fontweight("bold")
    if caption:
        figure.supxlabel(caption, fontsize=8, x=0.01, ha="left")
    return figure
