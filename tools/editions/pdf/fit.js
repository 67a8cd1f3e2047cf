// Runs in the arranged book, laid out as wide as paper, and makes it fit:
// what is too wide becomes smaller, what is short stays in one piece, and a
// figure that would leave half a page empty lets the text go on before it.
(pageHeight) => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const height = (box) => box.getBoundingClientRect().height;

  // Half of the tags of the file would be tokens that look like the rest.
  function joinPlainTokens() {
    const ink = (element) => {
      const { color, fontStyle } = getComputedStyle(element);
      return `${color} ${fontStyle}`;
    };
    const isPlain = (token) => ink(token) === ink(token.closest("pre"));
    const plain = all("pre span").filter(isPlain);
    for (const token of plain) token.replaceWith(...token.childNodes);
    for (const code of all("pre")) code.normalize();
  }

  function shrink() {
    const boxes = all(".katex-display").map((box) => [box, box.clientWidth]);
    const tables = all("table").map((box) => [box, box.parentElement.clientWidth]);
    const sizes = [...boxes, ...tables].map(([box, room]) => [box, room / box.scrollWidth]);
    for (const [box, size] of sizes)
      if (size < 0.999) box.style.fontSize = `${Math.floor(parseFloat(getComputedStyle(box).fontSize) * size * 0.97 * 10) / 10}px`;
  }

  function keepWhole() {
    const kinds = ".cell, details, .entry, div[class*='highlight-'], table, blockquote";
    const short = all(kinds).filter((box) => height(box) < 0.28 * pageHeight);
    for (const box of short) box.classList.add("whole");
  }

  // The boxes of a chapter from top to bottom: how high each is, how far it
  // is from there to the next, and how high its lines are.
  function boxesOf(chapter) {
    const leaves = (box) =>
      box.matches("article, section") ? [...box.children].flatMap(leaves) : [box];
    const boxes = leaves(chapter).filter((box) => box.getClientRects().length);
    const tops = boxes.map((box) => box.getBoundingClientRect().top);
    tops.push(chapter.getBoundingClientRect().bottom);
    return boxes.map((box, i) => ({
      box,
      height: height(box),
      advance: tops[i + 1] - tops[i],
      line: parseFloat(getComputedStyle(box.querySelector("pre") ?? box).lineHeight),
    }));
  }

  const isFigure = (box) => box.matches(".cell") && box.querySelector("figure");
  const isUnbroken = (box) => isFigure(box) || box.matches(".whole, .equation");
  const isOpen = (box) => box.textContent.trim().endsWith(":");
  const mayGoFirst = (box, figure) =>
    box.parentElement === figure.parentElement && box.matches("p, ul, ol, .equation, .cell");

  // How far the printer moves a box down that does not fit into the room left.
  function push({ box, height, line }, next, room) {
    if (box.matches("h1, h2, h3, h4")) {
      const after = next && !isUnbroken(next.box) ? 2 * next.line : next?.height;
      return height + line + (after ?? 0) > room ? room : 0;
    }
    if (height <= room) return 0;
    if (isUnbroken(box)) return room;
    const lines = Math.min(Math.floor(room / line), Math.floor(height / line) - 2);
    return lines < 2 ? room : room - lines * line;
  }

  // How many of the boxes after a figure fit into the room before it.
  function fitting(boxes, start, room) {
    let number = 0;
    for (let i = start, used = 0; i < boxes.length; i++) {
      used += boxes[i].advance;
      if (used > room || !mayGoFirst(boxes[i].box, boxes[start - 1].box)) break;
      if (!isOpen(boxes[i].box)) number = i - start + 1;
    }
    return number;
  }

  // Goes along the pages as the printer will.
  function floatFigures(chapter) {
    const boxes = boxesOf(chapter);
    for (let i = 0, y = 0; i < boxes.length; i++) {
      const { box, height, advance } = boxes[i];
      const room = pageHeight - (y % pageHeight);
      const pushed = push(boxes[i], boxes[i + 1], room);
      if (isFigure(box) && pushed > 0.08 * pageHeight) {
        const number = fitting(boxes, i + 1, room);
        if (number) {
          boxes[i + number].box.after(box);
          boxes.splice(i + number, 0, ...boxes.splice(i, 1));
          i--;
          continue;
        }
      }
      const bottom = y + pushed + height;
      const page = Math.ceil(bottom / pageHeight) * pageHeight;
      y = Math.min(y + pushed + advance, Math.max(page, bottom));
    }
  }

  joinPlainTokens();
  shrink();
  keepWhole();
  for (const chapter of all("article.page:not(.appendix)")) floatFigures(chapter);
}
