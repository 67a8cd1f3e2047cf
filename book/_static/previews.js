// A preview of what a link leads to, while the pointer rests on the link or the
// keyboard is there: a work, a term, a figure, a symbol, a section. It can be
// pointed at, and Escape puts it away. Fingers just follow the link.
"use strict";
{
  const script = document.currentScript;
  const main = document.getElementById("main");
  const REST = 250; // milliseconds before a preview opens or closes
  const GAP = 6; // pixels between link and preview
  let known = null; // what the links show, once it has been loaded
  let shown = null; // the link whose preview is open
  let wanted = null; // the link that the reader is at
  let point = null; // where the pointer came to it
  let timer = 0;

  const kind = { className: "preview", popover: "manual", role: "tooltip" };
  const preview = make("div", { id: "preview", ...kind });
  document.body.append(preview);

  // Where a link begins; of a broken one the line at which the pointer is.
  function leftOf(link) {
    const lines = [...link.getClientRects()];
    const isAt = ({ top, bottom }) => point?.y >= top && point?.y <= bottom;
    return (lines.find(isAt) ?? lines[0]).left;
  }

  // Below the link, or above it where there is more room.
  function place(link) {
    const { top, bottom } = link.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const { width, height } = preview.getBoundingClientRect();
    const below = bottom + GAP;
    const above = top - GAP - height;
    const y = below + height <= clientHeight || above < 0 ? below : above;
    const x = Math.max(16, Math.min(leftOf(link), clientWidth - width - 16));
    preview.style.setProperty("--left", `${x + scrollX}px`);
    preview.style.setProperty("--top", `${y + scrollY}px`);
  }

  function hide() {
    clearTimeout(timer);
    wanted = null;
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    shown = null;
    preview.hidePopover();
  }

  function show(link) {
    const html = known[link.getAttribute("href")];
    if (!html || link === shown) return;
    hide();
    wanted = link;
    preview.innerHTML = html;
    if (preview.querySelector(".katex")) loadMathStyle();
    preview.showPopover();
    place(link);
    shown = link;
    link.setAttribute("aria-describedby", preview.id);
  }

  // A page without formulas has not loaded their style.
  function loadMathStyle() {
    const href = new URL("katex/math.css", script.src).href;
    const sheets = [...document.querySelectorAll("link[rel=stylesheet]")];
    if (sheets.some((sheet) => sheet.href === href)) return;
    document.head.append(make("link", { href, rel: "stylesheet" }));
  }

  // Where there is a preview, the title would be a second one. It stays the
  // name of a formula, which has no other for those who listen.
  function dropTitle(link) {
    if (link.querySelector("math")) link.ariaLabel = link.title;
    link.removeAttribute("title");
  }

  // The file beside the page calls this.
  globalThis.previews = (found) => {
    known = found;
    for (const link of main.querySelectorAll("a[title]"))
      if (known[link.getAttribute("href")]) dropTitle(link);
    if (wanted) show(wanted);
  };

  function load() {
    const id = "preview-data";
    if (document.getElementById(id)) return;
    document.head.append(make("script", { id, src: script.dataset.previews }));
  }

  function want(link) {
    wanted = link;
    if (known) show(link);
    else load();
  }

  const linkOf = (target) => target.closest?.("a.internal");

  function later(act) {
    clearTimeout(timer);
    timer = setTimeout(act, REST);
  }

  main.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkOf(event.target);
    if (!link) return;
    point = { x: event.clientX, y: event.clientY };
    if (!known) load();
    if (link === shown) clearTimeout(timer);
    else later(() => want(link));
  });
  main.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "touch" && linkOf(event.target)) later(leave);
  });
  preview.addEventListener("pointerenter", () => clearTimeout(timer));
  preview.addEventListener("pointerleave", () => later(leave));

  // The preview stays with a link that has the focus.
  function leave() {
    const focused = linkOf(document.activeElement);
    if (focused !== shown || !focused?.matches(":focus-visible")) hide();
  }

  main.addEventListener("focusin", ({ target }) => {
    const link = linkOf(target);
    if (!link?.matches(":focus-visible")) return;
    point = null;
    clearTimeout(timer);
    want(link);
  });
  main.addEventListener("focusout", ({ target }) => {
    if (linkOf(target) === shown && !preview.matches(":hover")) hide();
  });
  main.addEventListener("click", hide);
  addEventListener("resize", hide);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    event.preventDefault();
    hide();
  });
}
