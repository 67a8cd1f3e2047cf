// What the pages do: set the mathematics, switch light and dark, open the
// contents on a phone, copy code, mark the section that is being read.
"use strict";

const page = document.documentElement;

function setMathematics() {
  for (const element of document.querySelectorAll(".math")) {
    const tex = element.textContent;
    const displayMode = element.tagName === "DIV";
    katex.render(tex, element, { displayMode, throwOnError: false });
  }
}

function isDark() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  return page.dataset.theme ? page.dataset.theme === "dark" : system;
}

function switchTheme() {
  page.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", page.dataset.theme);
  } catch {} // a private window may refuse; the page still switches
}

function connectButtons() {
  const theme = document.querySelector(".theme-button");
  const menu = document.querySelector(".menu-button");
  const open = (yes) => {
    page.classList.toggle("nav-open", yes);
    menu.setAttribute("aria-expanded", yes);
  };
  theme.hidden = menu.hidden = false;
  theme.addEventListener("click", switchTheme);
  menu.addEventListener("click", () => {
    open(!page.classList.contains("nav-open"));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") open(false);
  });
}

function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const code of document.querySelectorAll(".highlight > pre")) {
    const button = document.createElement("button");
    button.className = "copy-button";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    code.parentElement.append(button);
  }
}

// A box that scrolls must be reachable with the keyboard.
function letKeyboardScroll() {
  for (const box of document.querySelectorAll("pre, .katex-display, table")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    box.tabIndex = 0;
    if (box.matches(".katex-display")) {
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Formula");
    }
  }
}

function followReading() {
  const links = new Map();
  for (const link of document.querySelectorAll(".page-toc a[href^='#']")) {
    const section = document.getElementById(link.hash.slice(1));
    if (section) links.set(section, link);
  }
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target).setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  for (const section of links.keys()) watcher.observe(section);
}

if (window.katex) setMathematics();
connectButtons();
addCopyButtons();
letKeyboardScroll();
followReading();
