// Marks the words of a search in the section that was found. The marks are
// painted over the page, which stays as it is; Escape takes them away.
"use strict";

(() => {
  const { WORD, stems, whole } = SearchWords;
  const NAME = "search";
  const NO_TEXT =
    "script, style, button, .katex-mathml, .headerlink, .report-here";
  const asked = new URLSearchParams(location.search).get("highlight");
  const wanted = new Set(asked.split(" ").map(whole));
  const main = document.querySelector("main");

  // The section that the address names; an entry is a term with its text.
  function parts() {
    const anchor = decodeURIComponent(location.hash.slice(1));
    const target = anchor && document.getElementById(anchor);
    if (!target) return [main];
    const isTerm = target.tagName === "DT";
    return isTerm ? [target, target.nextElementSibling] : [target];
  }

  function* ranges(part) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest(NO_TEXT)) continue;
      for (const { 0: word, index } of node.data.matchAll(WORD)) {
        if (!stems(word).some((stem) => wanted.has(stem))) continue;
        const range = new Range();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        yield range;
      }
    }
  }

  function mark() {
    const found = parts().flatMap((part) => [...ranges(part)]);
    if (!found.length) found.push(...ranges(main));
    CSS.highlights.set(NAME, new Highlight(...found));
    return found.length;
  }

  const kind = { type: "button", className: "unmark" };
  const button = make("button", kind, "Remove marks");

  function unmark() {
    CSS.highlights.delete(NAME);
    removeEventListener("hashchange", mark);
    document.removeEventListener("keydown", press);
    if (document.activeElement === button) main.focus();
    button.remove();
    const address = location.pathname + location.hash;
    attempt(() => history.replaceState(null, "", address));
  }

  function press(event) {
    const isElsewhere = document.querySelector(":popover-open, dialog[open]");
    if (event.key === "Escape" && !isElsewhere) unmark();
  }

  if (CSS.highlights && mark()) {
    document.body.append(button);
    button.addEventListener("click", unmark);
    document.addEventListener("keydown", press);
    addEventListener("hashchange", mark);
  }
})();
