// Notes how far a chapter has been read, for progress.js. A section is read
// when its end has been in the window for a second; an exercise is done when
// the reader says so.
"use strict";
{
  const { load, save, show, page, root } = globalThis.progress;
  const main = document.getElementById("main");
  const MOMENT = 1000; // milliseconds
  const chapter = main.querySelector("section");
  const isSection = (part) => part.matches("section[id]:not(#exercises)");
  const sections = [...chapter.children].filter(isSection);
  const exercises = [...main.querySelectorAll("#exercises > section")].filter(
    (part) => /^Exercise /.test(titleOf(part)),
  );
  const boxes = new Map();
  let isForgotten = false; // then this page notes nothing before it is reloaded

  // The entry of this page, without what the page no longer has.
  function entryOf(kept) {
    const { read = [], done = [] } = kept.pages[page] ?? {};
    const known = (ids, parts) =>
      parts.map(({ id }) => id).filter((id) => ids.includes(id));
    return {
      read: known(read, sections),
      done: known(done, exercises),
      sections: sections.length,
    };
  }

  function change(act) {
    const kept = load();
    const entry = entryOf(kept);
    act(entry);
    kept.pages[page] = entry;
    save(kept);
    show();
    markSections();
  }

  // A tick behind a section in the list of this page.
  function markSections() {
    const { read, done } = entryOf(load());
    for (const link of document.querySelectorAll(".page-toc a")) {
      const id = decodeURIComponent(link.hash.slice(1));
      link.classList.toggle("is-read", read.includes(id) || done.includes(id));
    }
    for (const [id, box] of boxes) box.checked = done.includes(id);
  }

  function noteRead(id) {
    const { read } = entryOf(load());
    if (isForgotten || read.includes(id)) return;
    change((entry) => entry.read.push(id));
  }

  // What a reader sees last of a part; a check may be folded out of sight.
  function endOf(part) {
    const isSeen = (inside) => !inside.matches(".tag_check");
    const last = [...part.children].findLast(isSeen);
    return part.matches("section, .cell") && last ? endOf(last) : part;
  }

  function watchEnds() {
    const ends = new Map(sections.map((part) => [endOf(part), part.id]));
    const timers = new Map();
    const watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        clearTimeout(timers.get(target));
        const note = () => noteRead(ends.get(target));
        if (isIntersecting) timers.set(target, setTimeout(note, MOMENT));
      }
    });
    for (const end of ends.keys()) watcher.observe(end);
  }

  function addBoxes() {
    for (const exercise of exercises) {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () =>
        change((entry) => {
          const others = entry.done.filter((id) => id !== exercise.id);
          entry.done = box.checked ? [...others, exercise.id] : others;
        }),
      );
      const text = " I have done this exercise";
      exercise.append(make("label", { className: "done" }, box, text));
      boxes.set(exercise.id, box);
    }
  }

  // Where to go on: the section at the upper third of the window; from the
  // end of the chapter the next one.
  function placeToGoOn() {
    const edge = (part) => part.getBoundingClientRect();
    const next = document.querySelector(".prev-next [rel=next]");
    if (next && edge(chapter).bottom <= innerHeight) {
      const title = next.querySelector("span").textContent;
      return { place: next.href.slice(root.href.length), title, section: "" };
    }
    const section = [...chapter.children].findLast(
      (part) => part.matches("section") && edge(part).top <= innerHeight / 3,
    );
    return {
      place: section ? `${page}#${section.id}` : page,
      title: titleOf(chapter),
      section: section ? titleOf(section) : "",
    };
  }

  function notePlace() {
    if (!scrollY || isForgotten) return;
    save({ ...load(), last: placeToGoOn() });
  }

  addBoxes();
  markSections();
  watchEnds();
  addEventListener("pagehide", notePlace);
  addEventListener("visibilitychange", () => {
    if (document.hidden) notePlace();
  });
  addEventListener("progress-forgotten", () => {
    isForgotten = true;
    markSections();
  });
}
