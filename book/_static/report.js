// "Report a mistake here": the link at the foot opens an issue that names the
// section that is being read and the passage that has been selected. Beside a
// selection stands the same link, and at each heading one for its section.
// Nothing is sent before the reader sends it.
"use strict";
{
  const LONGEST = 400; // characters of a passage
  const main = document.getElementById("main");
  const link = document.querySelector(".report");
  const empty = link.href;
  const near = link.cloneNode(true);
  near.classList.add("report-near");
  near.hidden = true;
  document.body.append(near);

  // Formulas are selected twice, as they look and as they are read aloud.
  function passage(range) {
    const part = range.cloneContents();
    for (const twin of part.querySelectorAll(".katex-html")) twin.remove();
    for (const tex of part.querySelectorAll("annotation")) {
      tex.closest("math").replaceWith(`$${tex.textContent}$`);
    }
    const text = words(part.textContent);
    return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  }

  function selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    return main.contains(range.commonAncestorContainer) ? range : null;
  }

  // The last section that begins above this place.
  function sectionAt(y) {
    const sections = [...main.querySelectorAll("section[id]")];
    const isAbove = (part) => part.getBoundingClientRect().top <= y;
    return sections.findLast(isAbove) ?? sections[0];
  }

  function issue({ currentTarget: pressed }) {
    const range = selected();
    const y = range ? range.getBoundingClientRect().top : innerHeight / 2;
    const section = pressed.closest("section[id]") ?? sectionAt(y);
    const place = new URL(`#${section.id}`, location.href).href;
    const url = new URL(empty);
    let body = url.searchParams.get("body");
    const fill = (name, text) => {
      body = body.replace(`**${name}:** `, (head) => head + text);
    };
    fill("Section", `${titleOf(section)}, ${place}`);
    fill("Passage", range ? passage(range) : "");
    url.searchParams.set("body", body);
    return url.href;
  }

  function follow() {
    const range = selected();
    near.hidden = !range || words(range.toString()).length < 3;
    if (near.hidden) return;
    const end = [...range.getClientRects()].at(-1);
    const room = document.documentElement.clientWidth - near.offsetWidth - 16;
    const left = Math.max(16, Math.min(end.right, room));
    near.style.setProperty("--left", `${left + scrollX}px`);
    near.style.setProperty("--top", `${end.bottom + scrollY + 8}px`);
  }

  // Pressing it must not put the selection away.
  near.addEventListener("mousedown", (event) => event.preventDefault());
  let timer = 0;
  document.addEventListener("selectionchange", () => {
    near.hidden = true;
    clearTimeout(timer);
    timer = setTimeout(follow, 500);
  });
  // Of these the keyboard and the voice have one, at the foot.
  const links = [link, near];
  for (const heading of main.querySelectorAll("section[id] > :is(h2, h3)")) {
    const here = link.cloneNode();
    const title = "Report a mistake in this section";
    Object.assign(here, { className: "report-here", tabIndex: -1, title });
    here.ariaHidden = "true";
    here.textContent = "Report";
    heading.append(here);
    links.push(here);
  }
  for (const each of links) {
    for (const event of ["pointerdown", "focus"]) {
      each.addEventListener(event, (asked) => (each.href = issue(asked)));
    }
  }
}
