// A check is a tick at the end of the sentence that it proves. Pressed, it
// opens below. After a figure, or without a script, it is a line of its own.
"use strict";
{
  // The paragraph that ends before a cell; it may be the last one of a list
  // or of a folded answer.
  function sentenceBefore(cell) {
    let part = cell.previousElementSibling;
    while (part?.matches("ul, ol, details")) part = part.lastElementChild;
    if (part?.matches("li")) part = part.querySelector(":scope > p") ?? part;
    const ends = part?.matches("p, li") && part.lastElementChild;
    return part?.matches("p, li") && !ends?.matches(".katex-display, .math")
      ? part
      : null;
  }

  function addTick(cell) {
    const sentence = sentenceBefore(cell);
    if (!sentence) return;
    const fold = cell.querySelector("details");
    const tick = make("button", { type: "button", className: "tick" }, "✓");
    tick.ariaLabel = "Check of this sentence";
    tick.ariaExpanded = "false";
    tick.addEventListener("click", () => (fold.open = !fold.open));
    fold.addEventListener("toggle", () => {
      const hadFocus = fold.contains(document.activeElement);
      tick.ariaExpanded = String(fold.open);
      cell.classList.toggle("is-open", fold.open);
      if (!fold.open && hadFocus) tick.focus();
    });
    cell.classList.add("has-tick");
    sentence.append("\u2060\u00a0", tick);
  }

  document.querySelectorAll(".cell.tag_check").forEach(addTick);
}
