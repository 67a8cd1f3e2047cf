// What all pages do: switch light and dark, look after the menu of narrow
// windows, copy links, mark the section that is being read, open all solutions.
// The functions that come first are for the other scripts, too.
"use strict";

function make(name, properties, ...inside) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
}

// What is said to those who listen, and shown to nobody.
const makeStatus = () =>
  make("span", { className: "visually-hidden", role: "status" });

function icon(path) {
  const box = make("span");
  box.innerHTML = `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
  return box.firstChild;
}

const words = (text) => text.replace(/\s+/g, " ").trim();

function titleOf(section) {
  const heading = section.querySelector("h1, h2, h3, h4").cloneNode(true);
  heading.querySelector(".headerlink")?.remove();
  heading.querySelector(".report-here")?.remove();
  return words(heading.textContent);
}

const scrolls = (box) => box.scrollWidth > box.clientWidth;

// A private window may refuse to remember something, some browsers give no
// address to a file, and what was remembered may be anything.
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// Copies a text, and tells for a moment that it did.
async function copy(text, tell) {
  await navigator.clipboard.writeText(text);
  tell(true);
  setTimeout(tell, 1500, false);
}

// The beginning of a page is painted first; layout.html told the rest to wait.
function goOnWithTheRest() {
  const { classList } = document.documentElement;
  requestAnimationFrame(() => setTimeout(() => classList.remove("arriving")));
}

function switchTheme() {
  const chosen = document.documentElement.dataset;
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = chosen.theme ? chosen.theme === "dark" : system;
  chosen.theme = isDark ? "light" : "dark";
  attempt(() => localStorage.setItem("theme", chosen.theme));
}

// The browser opens and closes the menu, also on Escape and on a click beside
// it. Here it gets the focus, and closes when it has done its work.
function connectMenu() {
  const menu = document.getElementById("menu");
  menu.addEventListener("toggle", (event) => {
    const open = event.newState === "open";
    menu.role = open ? "dialog" : null;
    menu.ariaLabel = open ? "Contents and search" : null;
    if (!open) return;
    menu.focus();
    menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  });
  menu.addEventListener("click", (event) => {
    if (event.target.closest("a")) menu.hidePopover();
  });
  menu.addEventListener("focusout", (event) => {
    const next = event.relatedTarget;
    if (next && !menu.contains(next)) menu.hidePopover();
  });
  matchMedia("(max-width: 62rem)").addEventListener("change", () => {
    menu.hidePopover();
  });
}

// The contents of a wide window begin where this page is in them.
function showPlace() {
  const list = document.querySelector(".book-nav");
  const here = list.querySelector("a.current")?.getBoundingClientRect();
  const { bottom } = list.getBoundingClientRect();
  if (here && here.bottom > bottom)
    list.scrollTop += here.bottom - bottom + list.clientHeight / 2;
}

// A finger cannot point: a tap on a heading shows the sign beside it.
function showSign({ target }) {
  if (target.closest("a") || matchMedia("(hover: hover)").matches) return;
  const place = target.closest(":has(> .headerlink)");
  place?.querySelector(".headerlink").focus({ preventScroll: true });
}

// The sign beside a heading or a figure is a link to it, and copies itself.
function letLinksCopy() {
  if (!navigator.clipboard) return;
  const status = makeStatus();
  document.body.append(status);
  document.addEventListener("click", ({ target }) => {
    const link = target.closest(".headerlink");
    if (!link) return;
    copy(link.href, (isCopied) => {
      link.classList.toggle("copied", isCopied);
      status.textContent = isCopied ? "The link is copied." : "";
    });
  });
}

// A box that scrolls must be reachable with the keyboard, and only then.
function letKeyboardScroll() {
  const watcher = new ResizeObserver((entries) => {
    for (const { target: box } of entries) {
      if (scrolls(box)) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      if (!box.matches(".katex-display")) continue;
      box.role = scrolls(box) ? "group" : null;
      box.ariaLabel = scrolls(box) ? "Formula" : null;
    }
  });
  for (const box of document.querySelectorAll("pre, .katex-display, table")) {
    watcher.observe(box);
  }
}

function followReading() {
  const links = new Map();
  for (const link of document.querySelectorAll(".page-toc a[href^='#']")) {
    const section = document.getElementById(link.hash.slice(1));
    if (section) links.set(section, link);
  }
  const inside = new Set(); // a section, and its parts that are read
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        inside[isIntersecting ? "add" : "delete"](target);
      }
      const read = [...links.keys()].findLast((part) => inside.has(part));
      for (const [part, link] of links) {
        if (part === read) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  for (const section of links.keys()) watcher.observe(section);
}

// A link to a section that has moved to another page leads there.
function findMoved() {
  const { moved } = document.getElementById("main").dataset;
  const section = location.hash.slice(1);
  const page = moved && JSON.parse(moved)[section];
  if (page && !document.getElementById(section))
    location.replace(page + location.hash);
}

// A class that goes through the exercises opens every solution at once.
function addSolutionButtons() {
  const folds = document.querySelectorAll(".tag_solution details");
  const heading = document.querySelector("#exercises > h2");
  if (!heading || !folds.length) return;
  const status = makeStatus();
  const bar = make("p", { className: "solution-buttons" });
  for (const open of [true, false]) {
    const textContent = `${open ? "Open" : "Close"} all solutions`;
    const button = make("button", { type: "button", textContent });
    button.addEventListener("click", () => {
      for (const fold of folds) fold.open = open;
      status.textContent = `All solutions are ${open ? "open" : "closed"}.`;
    });
    bar.append(button, " ");
  }
  bar.append(status);
  heading.after(bar);
}

goOnWithTheRest();
const themeButton = document.querySelector(".theme-button");
themeButton.hidden = false;
themeButton.addEventListener("click", switchTheme);
connectMenu();
requestAnimationFrame(showPlace);
letLinksCopy();
document.addEventListener("click", showSign);
letKeyboardScroll();
followReading();
findMoved();
addSolutionButtons();
