// Runs in a deck and says what a listener in the last row would complain of
// on the slide that is shown.
(least) => {
  const slide = Reveal.getCurrentSlide();
  const name = (element) => `${element.tagName}.${element.className}`;
  const isAtom = (element) => element.closest(".katex, svg, kbd");
  const box = slide.getBoundingClientRect();
  const outside = [];
  for (const element of slide.querySelectorAll(".frame *:not(.katex *)")) {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    if (left < box.left || top < box.top) outside.push(name(element));
    if (right > box.right - 40 || bottom > box.bottom - 40)
      outside.push(name(element));
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth)
      if (!isAtom(element)) outside.push(`in ${name(element)}`);
  }
  const parts = [...slide.querySelectorAll("h1, h2, .parts > *, .keys")];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const overlaps = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const covered = parts.filter((part, i) =>
    boxes.some((other, j) => j > i && overlaps(boxes[i], other)),
  );
  const small = [];
  const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest("aside")) continue;
    const formula = element.closest(".katex");
    const drawing = element.closest("svg");
    const kind = drawing ? "drawing" : element.closest("code, pre") ? "code" : "text";
    const size = drawing
      ? parseFloat(getComputedStyle(element).fontSize) * drawing.getScreenCTM().a
      : parseFloat(getComputedStyle(formula ?? element).fontSize);
    if (size < least[kind]) small.push(`${name(element)}: ${size}`);
  }
  for (const image of slide.querySelectorAll(".frame:not(.title) img")) {
    const { width, height } = image.getBoundingClientRect();
    const across = width / image.naturalWidth;
    const down = height / image.naturalHeight;
    const scale = least.pixels * Math.min(across, down);
    if (scale < least.figure) small.push(`the figure: ${scale}`);
  }
  return {
    outside,
    covered: covered.map(name),
    small,
    broken: [...slide.querySelectorAll("img")].filter(
      (image) => !image.naturalWidth || image.alt.length < 20,
    ).length,
  };
};
