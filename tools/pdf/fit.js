// Runs in the arranged book, laid out as wide as paper, and makes it fit:
// what is too wide becomes smaller, what is short stays in one piece.
(pageHeight) => {
  const all = (selector) => document.querySelectorAll(selector);
  const shrink = (box, inner) => {
    const room = box.clientWidth / inner.scrollWidth;
    if (room < 1) box.style.fontSize = `${Math.floor(room * 97)}%`;
  };
  // Half of the tags of the file would be tokens that look like the rest.
  const ink = (element) => {
    const { color, fontStyle } = getComputedStyle(element);
    return `${color} ${fontStyle}`;
  };
  const isPlain = (token) => ink(token) === ink(token.closest("pre"));
  const plain = [...all("pre span")].filter(isPlain);
  for (const token of plain) token.replaceWith(...token.childNodes);
  for (const code of all("pre")) code.normalize();
  for (const box of all(".katex-display")) shrink(box, box);
  for (const table of all("table")) {
    const box = table.parentElement;
    if (table.scrollWidth > box.clientWidth) {
      table.style.fontSize = `${Math.floor((box.clientWidth / table.scrollWidth) * 90)}%`;
    }
  }
  const boxes = [...all(".cell, details, .entry, div[class*='highlight-'], table, blockquote")];
  const isShort = (box) => box.getBoundingClientRect().height < pageHeight / 4;
  for (const box of boxes.filter(isShort)) box.classList.add("whole");
}
