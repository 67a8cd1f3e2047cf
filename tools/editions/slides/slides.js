// Light or dark as on the pages of the book, set before anything is painted;
// then reveal.js shows the slides.
"use strict";

const page = document.documentElement;
try {
  const chosen = localStorage.getItem("theme");
  if (chosen) page.dataset.theme = chosen;
} catch {} // a private window may refuse

function switchTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = page.dataset.theme ? page.dataset.theme === "dark" : system;
  page.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", page.dataset.theme);
  } catch {}
}

// A displayed formula that is wider than its slide gets smaller letters; it
// has no width before its slide is shown.
function fitFormulas() {
  for (const box of document.querySelectorAll(".katex-display")) {
    const ratio = box.clientWidth / box.scrollWidth;
    if (!(ratio < 1)) continue;
    const size = parseFloat(getComputedStyle(box).fontSize);
    box.style.fontSize = `${Math.floor(size * ratio)}px`;
  }
}

addEventListener("DOMContentLoaded", () => {
  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    transition: "none",
    backgroundTransition: "none",
    hash: true,
    slideNumber: "c/t",
    controlsTutorial: false,
    scrollActivationWidth: null,
    pdfSeparateFragments: false,
    pdfMaxPagesPerSlide: 1,
    plugins: [RevealNotes],
  });
  const key = { keyCode: 84, key: "T", description: "Light or dark" };
  Reveal.addKeyBinding(key, switchTheme);
  for (const moment of ["ready", "slidechanged", "pdf-ready"])
    Reveal.on(moment, () => document.fonts.ready.then(fitFormulas));
});
