// The search field of every page: results as one types, keys, the marks on a
// page that was found. The index is loaded when somebody goes to the field.
"use strict";

globalThis.SearchBox = (() => {
  const FOLDER = new URL(".", document.currentScript.src);
  const ROOT = document.documentElement.dataset.content_root;
  const ENGINE = ["words", "ranking", "index"];
  const SHOWN = 8;

  // Classic scripts, one after the other: a page that was opened as a file may
  // load nothing else.
  function load(names) {
    const scripts = names.map((name) => {
      const src = new URL(`search-${name}.js`, FOLDER).href;
      const script = make("script", { src, async: false });
      document.head.append(script);
      return new Promise((done, fail) => {
        script.onload = done;
        script.onerror = () => fail(new Error(src));
      });
    });
    return Promise.all(scripts);
  }

  let index;
  function ready() {
    index ??= load(ENGINE).then(() => new BookSearch.Index(bookIndex));
    return index;
  }

  // What is found; null while the index cannot be loaded, and whoever types
  // on tries again.
  async function find(query) {
    const found = await ready().catch(() => null);
    if (!found) index = undefined;
    return found && found.find(query);
  }

  const marked = (pieces) =>
    pieces.map(({ text, mark }) =>
      mark ? make("mark", { textContent: text }) : text,
    );

  function address(result) {
    const [page, anchor] = result.address.split("#");
    const words = new URLSearchParams({ highlight: result.asked.join(" ") });
    return `${ROOT}${page}?${words}${anchor ? `#${anchor}` : ""}`;
  }

  // A link with the place, the title and the snippet of a section.
  function link(result) {
    const line = (name, ...parts) =>
      make("span", { className: `result-${name}` }, ...parts);
    return make(
      "a",
      { href: address(result) },
      line("page", result.page),
      line("title", ...marked(result.title)),
      line("text", ...marked(result.snippet)),
    );
  }

  function count(found) {
    if (!found) return "The search could not be loaded";
    const lacks = found.missing.map(([word, like]) => {
      return `“${word}” is not in the book${like && `; nearest: ${like}`}. `;
    });
    const { results, total } = found;
    const best = total > results.length ? `The best ${results.length} of ` : "";
    const number = `${best}${total} section${total === 1 ? "" : "s"}`;
    return lacks.join("") + (total ? number : "Nothing found");
  }

  // A field with a list below it: a combobox, for those who listen.
  function connect(form) {
    const field = form.querySelector("input");
    const kind = { id: "search-list", role: "listbox", ariaLabel: "Results" };
    const list = make("div", kind);
    const status = make("div", { className: "search-status", role: "status" });
    const hidden = { className: "search-panel", hidden: true };
    const panel = make("div", hidden, status, list);
    let chosen = null;
    form.append(panel);
    field.role = "combobox";
    field.ariaAutoComplete = "list";
    field.ariaExpanded = "false";
    field.setAttribute("aria-controls", list.id);
    const hasKeys = matchMedia("(hover: hover)").matches;
    if (hasKeys) field.placeholder = "Search (press /)";

    function choose(option) {
      chosen?.setAttribute("aria-selected", "false");
      chosen = option;
      field.removeAttribute("aria-activedescendant");
      if (!option) return;
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", option.id);
    }

    function step(by) {
      const options = [...list.children];
      const at = options.indexOf(chosen);
      const next = at < 0 && by < 0 ? options.length - 1 : at + by;
      choose(options[next] || null); // past the end: the field again
    }

    // In a wide window the list is wider than the column of the field.
    function place() {
      const { left, bottom } = field.getBoundingClientRect();
      panel.style.setProperty("--left", `${left}px`);
      panel.style.setProperty("--top", `${bottom}px`);
    }

    function close() {
      panel.hidden = true;
      field.ariaExpanded = "false";
      choose(null);
    }

    function linkToAll(query) {
      const words = new URLSearchParams({ q: query });
      const href = `${form.action.split("?")[0]}?${words}`;
      const textContent = "All results";
      return make("a", { href, textContent, className: "all-results" });
    }

    async function show() {
      const query = field.value.trim();
      if (!query) return close();
      const found = await find(query);
      if (field.value.trim() !== query) return; // typed on meanwhile
      const links = (found?.results || []).slice(0, SHOWN).map(link);
      if (found?.total > SHOWN) links.push(linkToAll(query));
      links.forEach((option, i) => {
        const kind = { role: "option", tabIndex: -1, ariaSelected: "false" };
        Object.assign(option, kind, { id: `search-option-${i}` });
      });
      list.replaceChildren(...links);
      status.textContent = count(found);
      choose(null);
      if (panel.hidden) form.closest(".menu")?.scrollTo(0, 0);
      panel.hidden = false;
      field.ariaExpanded = String(links.length > 0);
      place();
    }

    function press(event) {
      const isOpen = !panel.hidden;
      const { key } = event;
      if (key === "Escape" && isOpen) close();
      else if (key === "ArrowDown" && !isOpen) show();
      else if (key === "ArrowDown") step(1);
      else if (key === "ArrowUp" && isOpen) step(-1);
      else if (key === "Enter" && isOpen && chosen) chosen.click();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    field.addEventListener("focus", () => ready().catch(() => {}));
    field.addEventListener("input", show);
    field.addEventListener("click", () => panel.hidden && show());
    field.addEventListener("keydown", press);
    panel.addEventListener("mousedown", (event) => event.preventDefault());
    form.addEventListener("focusout", ({ relatedTarget: next }) => {
      if (next && !form.contains(next)) close();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!form.contains(target)) close();
    });
    addEventListener("resize", place);
  }

  connect(document.querySelector(".book-search"));
  if (new URLSearchParams(location.search).has("highlight")) {
    load(["words", "marks"]).catch(() => {});
  }
  return { count, find, link, ready };
})();
