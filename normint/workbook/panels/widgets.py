"""The two widgets that ipywidgets does not have: a surface to turn, and a grid of pixels to draw on."""

import anywidget
import traitlets
from plotly.offline import get_plotlyjs

# plotly's own widget stays empty where the browser needs more than two seconds to load all of plotly, which
# is what a widget has to begin. So this one begins at once, and loads plotly when it is drawn.
TURN = """
async function render({ model, el }) {
  if (!window.Plotly) {
    const script = new Blob([model.get("plotly")], { type: "text/javascript" });
    await import(URL.createObjectURL(script));
  }
  // The notebook scrolls over a surface; the wheel zooms only after a click on it.
  let clicked = false;
  el.addEventListener("wheel", (event) => clicked || event.stopPropagation(), { capture: true });
  el.addEventListener("click", () => { clicked = true; }, { capture: true });
  el.addEventListener("pointerleave", () => { clicked = false; });
  const draw = () => {
    const { data, layout } = model.get("figure");
    window.Plotly.react(el, data, layout, { displaylogo: false });
  };
  model.on("change:figure", draw);
  draw();
}
export default { render };
"""

# Each pixel is a button, so that Tab and Space draw too. A stroke paints what its first pixel became; it is
# sent while it is drawn, since the kernel answers only the newest state anyway.
PAINT = """
function render({ model, el }) {
  const grid = document.createElement("div");
  grid.className = "normint-pixels";
  grid.style.gridTemplateColumns = `repeat(${model.get("value")[0].length}, 1fr)`;
  el.appendChild(grid);
  let ink = null;

  function at(pixel) { return [pixel.dataset.i, pixel.dataset.j]; }

  function show() {
    const value = model.get("value");
    for (const pixel of grid.children) {
      const [i, j] = at(pixel);
      pixel.setAttribute("aria-pressed", value[i][j] ? "true" : "false");
    }
  }

  function paint(pixel, begin) {
    if (!pixel || pixel.parentElement !== grid) return;
    const [i, j] = at(pixel);
    const value = model.get("value").map((row) => row.slice());
    if (begin) ink = 1 - value[i][j];
    if (value[i][j] === ink) return;
    value[i][j] = ink;
    model.set("value", value);
    model.save_changes();
  }

  model.get("value").forEach((row, i) => row.forEach((_, j) => {
    const pixel = document.createElement("button");
    Object.assign(pixel.dataset, { i, j });
    pixel.setAttribute("aria-label", `row ${i}, column ${j}`);
    grid.appendChild(pixel);
  }));
  grid.addEventListener("pointerdown", (event) => {
    paint(event.target, true);
    grid.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grid.addEventListener("pointermove", (event) => {
    if (event.buttons) paint(document.elementFromPoint(event.clientX, event.clientY), false);
  });
  grid.addEventListener("keydown", (event) => {
    if (event.key !== " " && event.key !== "Enter") return;
    paint(event.target, true);
    event.preventDefault();
    event.stopPropagation();
  });
  model.on("change:value", show);
  show();
}
export default { render };
"""

STYLE = """
.normint-pixels { display: grid; width: 144px; height: 144px; gap: 1px; touch-action: none; }
.normint-pixels button { border: 0; border-radius: 0; padding: 0; min-width: 0; cursor: crosshair; }
.normint-pixels button { background: #dddddd; }
.normint-pixels button[aria-pressed="true"] { background: #0072b2; }
.normint-pixels button:focus-visible { outline: 2px solid #d55e00; }
"""


class TurnableSurface(anywidget.AnyWidget):
    """A plotly figure, as JSON: `figure` has its data and layout. Another one is drawn in its place."""

    _esm = TURN
    plotly = traitlets.Unicode(get_plotlyjs()).tag(sync=True)
    figure = traitlets.Dict().tag(sync=True)


class PixelGrid(anywidget.AnyWidget):
    """A mask to draw with the mouse, a finger, or the keyboard: `value` is a list of rows of 0 and 1."""

    _esm = PAINT
    _css = STYLE
    value = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
