// Runs in the page and says what a reader with sharp eyes would complain of;
// the colours, which take long, only if asked for.
(colours) => {
  const canvas = document
    .createElement("canvas")
    .getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => {
    if (!known.has(color)) known.set(color, paint(color));
    return known.get(color);
  };
  const paint = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (color) => {
    const [r, g, b] = [...rgba(color)].slice(0, 3).map((value) => {
      const s = value / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = new Map();
  const background = (element) => {
    if (!element) return "white";
    if (!behind.has(element)) {
      const own = getComputedStyle(element).backgroundColor;
      const opaque = rgba(own)[3] === 255;
      behind.set(element, opaque ? own : background(element.parentElement));
    }
    return behind.get(element);
  };
  const contrast = (element) => {
    const pair = [getComputedStyle(element).color, background(element)];
    const [low, high] = pair.map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const shown = (element) =>
    element.checkVisibility({ opacityProperty: true }) &&
    !element.closest(".katex-mathml");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const elements = new Set();
  let words = "";
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const text = texts.currentNode.data;
    if (!text.trim() || element.closest("script, style")) continue;
    if (colours && shown(element)) elements.add(element);
    if (!element.closest("pre, code, .katex")) words += text;
  }
  const tooFaint = new Map();
  for (const element of elements) {
    const ratio = contrast(element);
    const name = `${element.tagName}.${element.className} in ${element.parentElement.className}`;
    if (ratio < 4.5) tooFaint.set(name, ratio.toFixed(2));
  }
  // Tab follows the text of the page: so must what is seen. In a cell a figure
  // stands above the code that draws it; a drawing has an order of its own.
  const stops = [...document.querySelectorAll("*")].filter(
    (element) => element.tabIndex >= 0 && shown(element));
  const lies = (stop) => (stop.closest(".cell, svg") ?? stop)
    .getClientRects()[0];
  const within = stops.filter((stop) => stop.closest("main"));
  const back = within.filter((stop, n) =>
    n && lies(stop).bottom <= lies(within[n - 1]).top);
  const count = (selector) => document.querySelectorAll(selector).length;
  return {
    width: document.scrollingElement.scrollWidth,
    formulas: count(".math"),
    typeset: count(".math > .katex, .math > .katex-display"),
    mistakes: count(".katex-error"),
    rawTex: words.match(/\$\$|\\\(|\\\[|\\[a-z]{3,}/gi) || [],
    tooFaint: [...tooFaint].map((entry) => entry.join(" ")),
    firstStop: stops[0]?.className,
    outOfOrder: [...stops.filter((element) => element.tabIndex > 0), ...back]
      .map((element) => element.outerHTML.slice(0, 80)),
    shift: window.layoutShift,
  };
};
