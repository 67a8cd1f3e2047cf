// The reader's progress, which this browser alone keeps: how far each chapter
// has been read, which exercises are done, and where to go on. The contents
// show it and can forget it; the title page offers to go on.
"use strict";
{
  const root = new URL(document.documentElement.dataset.content_root, location);
  const key = `progress ${root.pathname}`;
  const page = location.pathname.slice(root.pathname.length);
  const nav = document.querySelector(".book-nav");
  const isObject = (value) => value !== null && typeof value === "object";
  const isEntry = (value) =>
    isObject(value) && Array.isArray(value.read) && Array.isArray(value.done);

  let kept = null; // while the page is open, where a private window refuses

  // What is kept: `pages` by their place, and `last`, where to go on. What
  // lies there may be anything.
  function load() {
    attempt(() => (kept = JSON.parse(localStorage.getItem(key))));
    const pages = Object.entries(kept?.pages ?? {});
    return {
      pages: Object.fromEntries(pages.filter(([, entry]) => isEntry(entry))),
      last: isObject(kept?.last) ? kept.last : null,
    };
  }

  function save(changed) {
    kept = changed;
    attempt(() => localStorage.setItem(key, JSON.stringify(kept)));
  }

  // Forgets the quizzes of this book, too.
  function forget() {
    const quiz = `quiz ${root.pathname}`;
    kept = null;
    const isOurs = (name) => name === key || name.startsWith(quiz);
    attempt(() => {
      for (const name of Object.keys(localStorage).filter(isOurs))
        localStorage.removeItem(name);
    });
    show();
    dispatchEvent(new Event("progress-forgotten"));
  }

  const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  // Under a chapter in the contents: a line as long as the share that is read.
  // It takes no room, so that nothing moves when it comes.
  function mark(link, { read, sections }) {
    const words = ` ${read.length} of ${count(sections, "section")} read`;
    const line = make("span", { className: "progress-mark" });
    line.style.setProperty("--share", Math.min(1, read.length / sections));
    line.append(make("span", { className: "visually-hidden" }, words));
    link.append(line);
  }

  function markContents({ pages }) {
    for (const old of nav.querySelectorAll(".progress-mark")) old.remove();
    for (const link of nav.querySelectorAll("a")) {
      const entry = pages[link.href.split("#")[0].slice(root.href.length)];
      if (entry?.read.length) mark(link, entry);
    }
  }

  // A small part of the contents, once there is something to tell.
  function tell({ pages, last }) {
    nav.querySelector(".progress")?.remove();
    const entries = Object.values(pages);
    if (!entries.length && !last) return;
    const read = entries.reduce((sum, entry) => sum + entry.read.length, 0);
    const done = entries.reduce((sum, entry) => sum + entry.done.length, 0);
    const numbers = [count(read, "section"), count(done, "exercise")];
    const words = `${numbers.join(" read, ")} done. Only this browser knows. `;
    const kind = { type: "button", className: "forget-button" };
    const button = make("button", kind, "Forget it");
    button.addEventListener("click", forget);
    const head = make("p", { className: "caption" }, "Your progress");
    const text = make("p", {}, words, button);
    nav.append(make("div", { className: "progress" }, head, text));
  }

  function offerToGoOn({ last }) {
    document.querySelector(".go-on")?.remove();
    const buttons = document.querySelector(".home .buttons");
    if (!buttons || typeof last?.place !== "string") return;
    const { href } = new URL(last.place, root);
    const link = make("a", { href }, String(last.title));
    if (!link.href.startsWith(root.href)) return;
    const part = last.section ? `, ${last.section}` : "";
    const go = make("p", { className: "go-on" }, "Go on where you were: ");
    go.append(link, part);
    buttons.after(go);
  }

  function show() {
    const known = load();
    markContents(known);
    tell(known);
    offerToGoOn(known);
  }

  globalThis.progress = { load, save, show, page, root };
  show();
}
