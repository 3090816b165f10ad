// A line of context below each page that the search found, from the texts in texts.js.
(() => {
  const BEFORE = 70, LENGTH = 200; // characters
  const terms = splitQuery((new URLSearchParams(location.search).get("q") ?? "").toLowerCase());
  const stemmer = new Stemmer();
  // The words as typed, or else what other forms of them begin with.
  const wanted = [...terms, ...terms.map((term) => stemmer.stemWord(term))].filter((term) => term.length > 1);

  const around = (text) => {
    const lower = text.toLowerCase();
    const place = wanted.map((term) => lower.indexOf(term)).find((found) => found >= 0);
    if (place === undefined) return null;
    const from = place < BEFORE ? 0 : text.indexOf(" ", place - BEFORE) + 1;
    return (from ? "… " : "") + cut(text.slice(from));
  };
  const cut = (text) => text.length <= LENGTH ? text : text.slice(0, text.lastIndexOf(" ", LENGTH)) + " …";

  const explain = (item) => {
    const [page, mark] = item.querySelector("a").getAttribute("href").split("#");
    const sections = TEXTS[page.replace(/\.html$/, "")] ?? {};
    const texts = sections[mark] ? [sections[mark]] : Object.values(sections);
    // What is said in words is easier to read than what stands in code.
    const known = [0, 1].flatMap((part) => texts.map((text) => text[part])).filter((text) => text);
    const line = known.map(around).find((text) => text) ?? cut(known[0] ?? "");
    if (!line) return;
    const context = item.appendChild(document.createElement("p"));
    context.className = "context";
    context.textContent = line;
    for (const term of wanted) _highlightText(context, term, "highlighted");
  };

  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node.tagName === "LI") explain(node);
    }
  }).observe(document.getElementById("search-results"), { childList: true, subtree: true });
})();
