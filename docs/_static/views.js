// 3D views: drawn when they come near the screen, by plotly's script, which only pages with a view load.
// The page scrolls over a view: the wheel zooms, and a finger turns, only after a click on it.
(() => {
  const here = document.currentScript.src;
  let plotly = null;

  const load = () => plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("plotly.min.js", here);
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  });

  // Text and grid of a view take the colours of the page.
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--pst-color-text-base").trim();
    const line = style.getPropertyValue("--pst-color-border").trim();
    const changes = { paper_bgcolor: "rgba(0,0,0,0)", "font.color": ink, "title.font.color": ink };
    for (const axis of ["xaxis", "yaxis", "zaxis"]) {
      for (const part of ["gridcolor", "linecolor", "zerolinecolor"]) changes[`scene.${axis}.${part}`] = line;
    }
    return changes;
  };

  const draw = async (view) => {
    const figure = JSON.parse(view.querySelector("script").textContent);
    const Plotly = await load();
    const box = document.createElement("div");
    box.className = "view-box";
    view.append(box);
    await Plotly.newPlot(box, figure.data, figure.layout, { responsive: true, displaylogo: false });
    await Plotly.relayout(box, colours());
    new MutationObserver(() => Plotly.relayout(box, colours()))
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
    view.dataset.drawn = "yes";
  };

  const guard = (view) => {
    const active = () => view.classList.contains("active");
    for (const kind of ["wheel", "touchstart", "touchmove"]) {
      view.addEventListener(kind, (event) => active() || event.stopPropagation(), { capture: true, passive: true });
    }
    view.addEventListener("click", () => view.classList.add("active"), { capture: true });
    document.addEventListener("pointerdown", (event) => {
      if (!view.contains(event.target)) view.classList.remove("active");
    });
    view.addEventListener("mouseleave", () => view.classList.remove("active"));
  };

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        near.unobserve(entry.target);
        draw(entry.target);
      }
    }
  }, { rootMargin: "600px" });

  for (const view of document.querySelectorAll(".view")) {
    guard(view);
    near.observe(view);
  }
})();
