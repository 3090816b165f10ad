"""A grid of pixels on which a mask is drawn with the mouse, a finger, or the keyboard."""

import anywidget
import traitlets

# Each pixel is a button, so that Tab and Space draw too. A stroke paints what its first pixel became; it is
# sent while it is drawn, since the kernel answers only the newest state anyway.
SCRIPT = """
function render({ model, el }) {
  const grid = document.createElement("div");
  grid.className = "normint-pixels";
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", "mask: click or drag to draw");
  el.appendChild(grid);
  let ink = null;

  function show() {
    const value = model.get("value");
    const columns = value.length ? value[0].length : 0;
    if (grid.children.length !== value.length * columns) {
      grid.replaceChildren();
      grid.style.gridTemplateColumns = `repeat(${columns}, 1fr)`;
      value.forEach((row, i) => row.forEach((_, j) => {
        const pixel = document.createElement("button");
        pixel.type = "button";
        pixel.dataset.i = i;
        pixel.dataset.j = j;
        pixel.setAttribute("aria-label", `row ${i}, column ${j}`);
        grid.appendChild(pixel);
      }));
    }
    for (const pixel of grid.children)
      pixel.setAttribute("aria-pressed", value[pixel.dataset.i][pixel.dataset.j] ? "true" : "false");
  }

  function paint(pixel) {
    if (!pixel || pixel.parentElement !== grid) return;
    const { i, j } = pixel.dataset;
    const old = model.get("value");
    if (ink === null) ink = old[i][j] ? 0 : 1;
    if (old[i][j] === ink) return;
    const value = old.map((row) => row.slice());
    value[i][j] = ink;
    model.set("value", value);
    model.save_changes();
  }

  grid.addEventListener("pointerdown", (event) => {
    ink = null;
    paint(event.target);
    grid.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grid.addEventListener("pointermove", (event) => {
    if (event.buttons) paint(document.elementFromPoint(event.clientX, event.clientY));
  });
  grid.addEventListener("keydown", (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    ink = null;
    paint(event.target);
    event.preventDefault();
    event.stopPropagation();
  });
  model.on("change:value", show);
  show();
}
export default { render };
"""

STYLE = """
.normint-pixels { display: grid; width: 224px; height: 224px; gap: 1px; touch-action: none; }
.normint-pixels button { border: 0; padding: 0; min-width: 0; background: #dddddd; cursor: crosshair; }
.normint-pixels button[aria-pressed="true"] { background: #0072b2; }
.normint-pixels button:focus-visible { outline: 2px solid #d55e00; }
"""


class PixelGrid(anywidget.AnyWidget):
    """A mask that is drawn: `value` is a list of rows, each a list of 0 and 1."""

    _esm = SCRIPT
    _css = STYLE
    value = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
