// Runs in the page and says what does not fit in it.
() => {
  const room = (element) => element.scrollWidth - element.clientWidth;
  const tex = (formula) => formula.querySelector("annotation").textContent;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const rect = (element) => element.getBoundingClientRect();
  const inside = (small, large) =>
    small.left >= large.left - 0.5 && small.right <= large.right + 0.5;
  const isMarked = (box) =>
    getComputedStyle(box).backgroundImage.includes("gradient") &&
    box.tabIndex === 0 &&
    box.role === "group" &&
    box.ariaLabel !== null;
  const displayed = all(".katex-display").filter((box) => room(box) > 0);
  const inline = all("span.math").filter((formula) => {
    const parts = [...formula.querySelectorAll(".katex-base")];
    const column = rect(formula.closest("p, li, dd, td, th, figcaption, h2, h3, .article"));
    return !parts.length || !parts.every((part) => inside(rect(part), column));
  });
  const spilled = all("svg.architecture a").flatMap((link) => {
    const box = link.querySelector("rect");
    const texts = box ? [...link.querySelectorAll("text")] : [];
    return texts.filter((text) => !inside(rect(text), rect(box)));
  });
  const covering = all("main figure .zoom-button").filter((button) =>
    rect(button).top < rect(button.closest("figure").querySelector("img")).bottom);
  // What follows a formula without a blank, and stands on the next line.
  const stranded = all("span.math").filter((formula) => {
    const text = formula.nextSibling;
    if (text?.nodeType !== Node.TEXT_NODE || /^[\s\w]/.test(text.data))
      return false;
    const sign = document.createRange();
    sign.setStart(text, 0);
    sign.setEnd(text, 1);
    return rect(sign).top > rect(formula).bottom;
  });
  return {
    width: document.scrollingElement.scrollWidth,
    cutFormulas: [...displayed, ...inline].map(tex),
    stranded: stranded.map(tex),
    unmarked: displayed.filter((box) => !isMarked(box)).map(tex),
    cutCode: all(".cell pre, .cell_output table")
      .filter((box) => room(box) > 0)
      .map((box) => box.textContent),
    cutTables: all("main table")
      .filter((table) => table.checkVisibility() && room(table) > 0)
      .map((table) => table.textContent),
    spilled: spilled.map((text) => text.textContent),
    covering: covering.map((button) => button.ariaLabel),
  };
};
