// The search field of every page: results as one types, keys, the marks on a
// page that was found. The index is loaded when somebody goes to the field.
"use strict";

globalThis.SearchBox = (() => {
  const FOLDER = new URL(".", document.currentScript.src);
  const ROOT = document.documentElement.dataset.content_root;
  const ENGINE = ["words", "snippet", "ranking", "index"];
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

  function count(results) {
    if (!results) return "The search could not be loaded";
    const { length } = results;
    if (!length) return "Nothing found";
    return `${length} section${length === 1 ? "" : "s"}`;
  }

  // A field with a list below it: a combobox, for those who listen.
  class Box {
    constructor(form) {
      this.form = form;
      this.field = form.querySelector("input");
      const kind = { id: "search-list", role: "listbox" };
      this.list = make("div", { ...kind, ariaLabel: "Results" });
      this.status = make("div", { className: "search-status", role: "status" });
      this.panel = make("div", { className: "search-panel", hidden: true });
      this.panel.append(this.status, this.list);
      form.append(this.panel);
      this.describe();
      this.listen();
    }

    describe() {
      this.field.role = "combobox";
      this.field.ariaAutoComplete = "list";
      this.field.ariaExpanded = "false";
      this.field.setAttribute("aria-controls", this.list.id);
      const hasKeys = matchMedia("(hover: hover)").matches;
      if (hasKeys) this.field.placeholder = "Search (press /)";
    }

    listen() {
      const { field, form, panel } = this;
      field.addEventListener("focus", () => ready().catch(() => {}));
      field.addEventListener("input", () => this.show());
      field.addEventListener("click", () => panel.hidden && this.show());
      field.addEventListener("keydown", (event) => this.press(event));
      panel.addEventListener("mousedown", (event) => event.preventDefault());
      form.addEventListener("focusout", ({ relatedTarget: next }) => {
        if (next && !form.contains(next)) this.close();
      });
      document.addEventListener("pointerdown", ({ target }) => {
        if (!form.contains(target)) this.close();
      });
      addEventListener("resize", () => this.place());
    }

    async show() {
      const query = this.field.value.trim();
      if (!query) return this.close();
      const results = await find(query);
      if (this.field.value.trim() !== query) return; // typed on meanwhile
      const all = results || [];
      const links = all.slice(0, SHOWN).map(link);
      if (all.length > SHOWN) links.push(this.all(query, all.length));
      links.forEach((option, i) => {
        const kind = { role: "option", tabIndex: -1, ariaSelected: "false" };
        Object.assign(option, kind, { id: `search-option-${i}` });
      });
      this.list.replaceChildren(...links);
      this.status.textContent = count(results);
      this.choose(null);
      this.open();
    }

    all(query, number) {
      const words = new URLSearchParams({ q: query });
      const href = `${this.form.action.split("?")[0]}?${words}`;
      const textContent = `All ${number} results`;
      return make("a", { href, textContent, className: "all-results" });
    }

    open() {
      this.panel.hidden = false;
      this.field.ariaExpanded = String(this.list.childElementCount > 0);
      this.place();
    }

    // In a wide window the list is wider than the column of the field.
    place() {
      const { left, bottom } = this.field.getBoundingClientRect();
      this.panel.style.setProperty("--left", `${left}px`);
      this.panel.style.setProperty("--top", `${bottom}px`);
    }

    close() {
      this.panel.hidden = true;
      this.field.ariaExpanded = "false";
      this.choose(null);
    }

    choose(option) {
      this.chosen?.setAttribute("aria-selected", "false");
      this.chosen = option;
      this.field.removeAttribute("aria-activedescendant");
      if (!option) return;
      option.setAttribute("aria-selected", "true");
      option.scrollIntoView({ block: "nearest" });
      this.field.setAttribute("aria-activedescendant", option.id);
    }

    step(by) {
      const options = [...this.list.children];
      const at = options.indexOf(this.chosen);
      const next = at < 0 && by < 0 ? options.length - 1 : at + by;
      this.choose(options[next] || null); // past the end: the field again
    }

    press(event) {
      const isOpen = !this.panel.hidden;
      const { key } = event;
      if (key === "Escape" && isOpen) this.close();
      else if (key === "ArrowDown" && !isOpen) this.show();
      else if (key === "ArrowDown" && isOpen) this.step(1);
      else if (key === "ArrowUp" && isOpen) this.step(-1);
      else if (key === "Enter" && isOpen && this.chosen) this.chosen.click();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }
  }

  document.querySelectorAll(".book-search").forEach((form) => new Box(form));
  if (new URLSearchParams(location.search).has("highlight")) {
    load(["words", "marks"]).catch(() => {});
  }
  return { count, find, link, ready };
})();
