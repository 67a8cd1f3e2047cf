// The search page: all results, live, and the address that leads to them.
"use strict";

(() => {
  const field = document.querySelector(".search-form input");
  const status = document.getElementById("search-status");
  const list = document.getElementById("search-results");

  function keep(query) {
    const words = query ? `?${new URLSearchParams({ q: query })}` : "";
    attempt(() => history.replaceState(null, "", location.pathname + words));
  }

  async function show() {
    const query = field.value.trim();
    const found = query && (await SearchBox.find(query));
    if (field.value.trim() !== query) return; // typed on meanwhile
    const items = (found?.results || []).map(SearchBox.link);
    list.replaceChildren(...items.map((link) => make("li", {}, link)));
    status.textContent = query && SearchBox.count(found);
  }

  // The arrows go through the links, and back to the field.
  function step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [field, ...list.querySelectorAll("a")];
    const next = by && stops[stops.indexOf(document.activeElement) + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("focus", () => SearchBox.ready().catch(() => {}));
  field.addEventListener("input", () => {
    keep(field.value.trim());
    show();
  });
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  document.querySelector("main").addEventListener("keydown", step);
  show();
})();
