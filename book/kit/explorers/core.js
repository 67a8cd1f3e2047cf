"use strict";
// What all explorers share. A classic script: a page that was opened as a
// file may load neither modules nor data.
(() => {
  if (globalThis.Explorer) return;

  const fill = (node, props, kids) => {
    for (const [key, value] of Object.entries(props)) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (key.startsWith("--")) node.style.setProperty(key, value);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value != null) node.setAttribute(key, value);
    }
    node.append(...kids.flat(Infinity).filter((kid) => kid != null));
    return node;
  };
  /** An HTML element: attributes, on… listeners, --… custom properties. */
  const h = (tag, props = {}, ...kids) =>
    fill(document.createElement(tag), props, kids);
  const s = (tag, props = {}, ...kids) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props,
      kids);
  const button = (words, onclick, props = {}) =>
    h("button", { type: "button", onclick, ...props }, words);
  /** Names of classes, without those that are not so. */
  const classes = (...names) => names.filter(Boolean).join(" ");
  /** A number as text, with a real minus and no negative zero. */
  const fixed = (x, digits = 2) => {
    if (Number.isNaN(x)) return "NaN";
    if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
    const text = Math.abs(x).toFixed(digits);
    return x < 0 && Number(text) !== 0 ? `−${text}` : text;
  };
  const grouped = (x) => x.toLocaleString("en-US");
  /** An exponent, as it stands above a line. */
  const raised = (n) => String(n).replace("-", "⁻")
    .replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  const range = (n, first = 0) =>
    Array.from({ length: n }, (_, i) => first + i);
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const dot = (a, b) => total(a.map((x, i) => x * b[i]));
  const softmax = (scores) => {
    const top = Math.max(...scores);
    const exp = scores.map((score) => Math.exp(score - top));
    const sum = total(exp);
    return exp.map((one) => one / sum);
  };
  /** The mean of tables, number by number. */
  const mean = (tables) => tables[0].map((row, i) => Array.from(row,
    (_, j) => total(tables.map((one) => one[i][j])) / tables.length));
  /** Where a key leads from [row, column] in a grid; null if nowhere. */
  const move = (event, [row, column], [rows, columns]) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return null;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, columns - 1],
      PageUp: [0, column], PageDown: [rows - 1, column],
    }[event.key];
    if (!to) return null;
    event.preventDefault();
    const inside = (x, n) => Math.min(n - 1, Math.max(0, x));
    return [inside(to[0], rows), inside(to[1], columns)];
  };

  // Colours of the book's page, else of JupyterLab, of VS Code, of the system.
  const CSS = `
    :host {
      --fg: var(--ink, var(--jp-content-font-color1,
        var(--vscode-foreground, CanvasText)));
      --muted: var(--quiet, color-mix(in srgb, var(--fg) 75%, transparent));
      --bg: var(--page, var(--jp-layout-color0,
        var(--vscode-editor-background, Canvas)));
      --panel: var(--raised, color-mix(in srgb, var(--fg) 6%, var(--bg)));
      --rule: var(--line, color-mix(in srgb, var(--fg) 16%, var(--bg)));
      --edge: light-dark(#7c858f, #7c8794);
      --hi: var(--accent, light-dark(#0072b2, #4ea8de));
      --hi-soft: var(--accent-soft, light-dark(#eef5fb, #17273a));
      --warn: var(--error, light-dark(#b3261e, #ff9a90));
      --c-query: var(--query, light-dark(#0072b2, #56b4e9));
      --c-key: var(--key, light-dark(#b85000, #f08a4b));
      --c-value: var(--value, light-dark(#00775a, #3fc9a0));
      --c-output: var(--output, light-dark(#a8457f, #e09cc4));
      --font: var(--sans, var(--jp-content-font-family, system-ui));
      --code: var(--mono, var(--jp-code-font-family, ui-monospace, monospace));
      display: block; margin: 0 0 1.5em; container-type: inline-size;
    }
    :host([hidden]), [hidden] { display: none !important; }
    * { box-sizing: border-box; }
    .frame {
      padding: 0.8rem 1rem 1rem; border: 1px solid var(--rule);
      border-radius: 8px; background: var(--bg); color: var(--fg);
      font: 0.9rem/1.5 var(--font); overflow: auto;
      overflow-wrap: break-word;
    }
    .head { display: flex; gap: 0.2rem 1rem; align-items: baseline;
      margin-bottom: 0.6rem; }
    .head > button { flex: none; }
    .title { flex: 1; min-width: 0; margin: 0; font-weight: 600; }
    .controls { display: flex; flex-wrap: wrap; gap: 0.4rem 1.4rem;
      align-items: center; margin: 0 0 0.8rem; }
    fieldset { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem;
      align-items: center; min-width: 0; margin: 0; padding: 0; border: 0; }
    legend { float: left; padding: 0; }
    legend, .name { color: var(--muted); }
    label { display: inline-flex; flex-wrap: wrap; gap: 0.1rem 0.5rem;
      align-items: center; min-width: 0; max-width: 100%;
      min-height: 1.75rem; }
    input { margin: 0; accent-color: var(--hi); font: inherit; }
    input[type="range"] { width: 11rem; max-width: 100%;
      min-height: 1.75rem; }
    input:is([type="radio"], [type="checkbox"]) { flex: none; width: 1.1rem;
      height: 1.1rem; }
    button, select, input:is([type="text"], [type="number"]) {
      max-width: 100%; min-height: 1.9rem; padding: 0.15rem 0.6rem;
      border: 1px solid var(--edge); border-radius: 6px;
      background: var(--bg); color: var(--fg); font: inherit; }
    button, select, label:has(input) { cursor: pointer; }
    button:hover { background: var(--panel); }
    button[aria-pressed="true"] { border-color: var(--hi);
      background: var(--hi-soft); box-shadow: inset 0 0 0 1px var(--hi); }
    button.plain { padding-inline: 0.4rem; border-color: transparent;
      background: none; color: var(--muted); }
    button.plain:hover { color: var(--fg); text-decoration: underline; }
    :disabled, label:has(:disabled) { opacity: 0.6; cursor: default; }
    :focus-visible { outline: 2px solid var(--hi); outline-offset: 2px; }
    output, td, .number { font-variant-numeric: tabular-nums; }
    output { min-width: 2.5em; }
    table { border-collapse: collapse; }
    caption { padding: 0 0 0.3rem; text-align: left; color: var(--muted); }
    th { padding: 0.15rem 0.5rem; font-weight: 400; text-align: left; }
    .sliders { display: grid; gap: 0.1rem 2rem; margin: 0 0 0.8rem;
      grid-template-columns: repeat(auto-fill,
        minmax(min(100%, 16rem), 1fr)); }
    .sliders label:has(output) { display: grid; grid-template-columns:
      var(--names, 6.9rem) minmax(0, 1fr) var(--said, 4.8rem); }
    form { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0; }
    form input { flex: 1 1 12rem; min-width: 0; }
    .legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem;
      margin: 0.5rem 0; padding: 0; list-style: none; }
    .legend > *, .legend dt, .facts dt { display: flex; gap: 0.4rem;
      align-items: center; }
    .legend, .facts dt, figcaption { color: var(--muted); }
    dd { margin: 0; color: var(--fg); }
    .scroll { max-width: 100%; overflow-x: auto; padding: 3px; margin: -3px; }
    code, pre { font-family: var(--code); font-size: 0.8rem; }
    pre { margin: 0.6rem 0 0; padding: 0.6rem 0.8rem; border-radius: 8px;
      background: var(--panel); overflow-x: auto; line-height: 1.55; }
    .note { min-height: 3em; margin: 0.6rem 0 0; }
    .warn { color: var(--warn); }
    .tasks { margin: 0; padding-left: 1.4rem; }
    .tasks b { display: inline-block; min-width: 5rem; }
    svg text { fill: var(--fg); font-family: var(--font); }
    .chart { display: block; width: 100%; overflow: visible;
      font-size: 12.8px; }
    .grid { stroke: var(--rule); }
    .axis { stroke: var(--edge); }
    .here { stroke: var(--fg); stroke-dasharray: 2 3; }
    .line { fill: none; stroke: var(--hi); stroke-width: 2.5;
      stroke-linejoin: round; }
    .dot { fill: var(--bg); stroke: var(--fg); stroke-width: 2; }
    .visually-hidden { position: absolute; width: 1px; height: 1px;
      overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
    .instead { display: none; }
    .copies { height: 0; overflow: hidden; }
    .failed { display: contents; }
    @container (max-width: 30rem) {
      .frame { padding: 0.7rem 0.7rem 0.8rem; }
      .controls label:has([type="range"]) { flex-wrap: nowrap; width: 100%; }
      .controls [type="range"] { flex: 1 1 4rem; min-width: 0; }
    }
    @media print {
      .frame { display: none; }
      .instead { display: contents; }
    }`;

  /** Light or dark where the home says so in its own way; else inherited. */
  const scheme = () => {
    const says = (...where) => document.querySelector(where.join());
    if (says("body[data-jp-theme-light=false]", "body.vscode-dark",
      "html[theme=dark]")) return "dark";
    return says("body[data-jp-theme-light=true]", "body.vscode-light")
      ? "light" : "";
  };
  const sheet = (text) => {
    const made = new CSSStyleSheet();
    made.replaceSync(text);
    return made;
  };

  /** A function from numbers between two to places between two. */
  const linear = ([low, high], [first, last]) => (n) =>
    first + (n - low) / (high - low) * (last - first);
  /** What a chart stands on: lines at some heights, a scale, its name.
   * `x` and `y` say where a number stands; `words` are those of the scale. */
  const axes = ({ x, y, left, right, bottom, levels, level = String, scale,
    words = String, name }) => {
    const text = (at, down, said, anchor = "middle") =>
      s("text", { x: at, y: down, "text-anchor": anchor }, said);
    return [
      levels.map((n) => [
        s("path", { class: n ? "grid" : "axis",
          d: `M${left},${y(n)}H${right}` }),
        s("text", { x: left - 8, y: y(n) + 4, "text-anchor": "end",
          "data-level": n }, level(n))]),
      scale.map((n) => text(x(n), bottom + 18, words(n))),
      name ? text((left + right) / 2, bottom + 36, name) : [],
    ].flat(2);
  };
  /** A table; one of many columns scrolls on a phone, and has a name. */
  const wide = (columns, name, table) => h("div", { class: "scroll",
    ...columns > 8 && { tabindex: 0, role: "region", "aria-label": name } },
  table);
  /** A piece of a line, to stand beside its name. */
  const swatch = (kind, ...marks) => s("svg", { class: kind, width: 28,
    height: 12, "aria-hidden": "true" }, marks);

  /** An explorer has `build(root)`, and `update()`, which draws it. What a
   * reader chose stands in the fields that `state` names, with their values
   * at first. What the page gives as data-…, in JSON, are fields, too, and
   * what it gives as data-start are those of the state. */
  class Base extends HTMLElement {
    static css = "";
    static state = {};

    connectedCallback() {
      if (this.shadowRoot) return;
      const { title, css, state } = this.constructor;
      const shadow = this.attachShadow({ mode: "open" });
      shadow.adoptedStyleSheets = [CSS, css].map(sheet);
      this.style.colorScheme = scheme();
      this.redraws = [];
      const again = button("Start again",
        () => { this.value = this.start; }, { class: "plain" });
      const root = h("div", { class: "frame", role: "group",
        "aria-label": title }, h("div", { class: "head" },
        h("p", { class: "title" }, title), again));
      const instead = h("slot", { class: "instead" }); // on paper
      shadow.append(root, instead);
      try {
        const { scripts, ready, ...given } = this.dataset;
        for (const name in given) {
          try {
            given[name] = JSON.parse(given[name]);
          } catch { // put there by an extension of the browser
            delete given[name];
          }
        }
        Object.assign(this, structuredClone(state), given, given.start);
        this.build(root);
        this.update();
        this.start = this.value;
        const head = root.firstChild; // its height depends on nothing else
        const sizes = new ResizeObserver(() => this.reserve(root));
        requestAnimationFrame(async() => { // before, it lays out the page
          const { top } = this.getBoundingClientRect();
          await document.fonts.ready;
          if (top < innerHeight) sizes.observe(head);
          else setTimeout(() => sizes.observe(head)); // after the first paint
        });
        this.setAttribute("data-ready", "");
      } catch (error) { // what stands in the page shows again
        root.remove();
        instead.className = "failed";
        console.error(error);
      }
    }

    get value() {
      const names = Object.keys(this.constructor.state);
      return structuredClone(
        Object.fromEntries(names.map((name) => [name, this[name]])));
    }

    set value(given) {
      for (const name in this.constructor.state) {
        if (name in given) this[name] = structuredClone(given[name]);
      }
      this.refresh();
    }

    /** States in which there is most to see. */
    get fullest() { return []; }

    /** The frame is as high as the highest of them at this width, so that
     * nothing below it moves under a reader's hand. */
    reserve(root) {
      const { fullest } = this;
      if (!fullest.length || !this.clientWidth) return;
      root.style.height = "";
      const now = this.value;
      const copies = [now, ...fullest].map((state) => {
        this.value = { ...this.start, ...state };
        const copy = root.cloneNode(true);
        for (const input of copy.querySelectorAll("[name]")) {
          input.removeAttribute("name"); // else the copies share its choice
        }
        return copy;
      });
      this.value = now;
      const all = h("div", { class: "copies" }, ...copies);
      root.after(all); // measured together: the page is laid out once
      const heights = copies.map((copy) => copy.getBoundingClientRect().height);
      all.remove();
      root.style.height = `${Math.ceil(Math.max(...heights))}px`;
    }

    /** Draw from the state; explorers add to it. */
    update() {
      for (const redraw of this.redraws) redraw();
    }

    /** An element whose children, or text, are what `draw` gives each time. */
    part(tag, props, draw) {
      const made = h(tag, props);
      this.redraws.push(() =>
        made.replaceChildren(...[draw()].flat(Infinity)));
      return made;
    }

    /** What is made anew has the focus of what had the same `data-key`. */
    refresh() {
      const key = this.shadowRoot.activeElement?.dataset.key;
      this.update();
      if (key) this.shadowRoot.querySelector(`[data-key="${key}"]`)?.focus();
    }

    put(name, value) {
      this[name] = value;
      this.refresh();
    }

    /** A slider for this[name] on a list, which a function gives if it
     * changes; `text` says the value for eye and ear. */
    slider(name, label, list, text = grouped) {
      const values = () => typeof list === "function" ? list() : list;
      const input = h("input", { type: "range", min: 0,
        oninput: () => this.put(name, values()[input.value]) });
      const said = h("output");
      this.redraws.push(() => {
        input.max = values().length - 1;
        input.value = values().indexOf(this[name]);
        said.textContent = text(this[name]);
        input.setAttribute("aria-valuetext", said.textContent);
      });
      return h("label", {}, h("span", { class: "name" }, label), input, said);
    }

    toggle(name, label) {
      const input = h("input", { type: "checkbox",
        onchange: () => this.put(name, input.checked) });
      this.redraws.push(() => { input.checked = this[name]; });
      return h("label", {}, input, label);
    }

    /** What was pressed or picked, as a number where that is one. */
    took(name, text) {
      this.put(name, typeof this[name] === "number" ? Number(text) : text);
    }

    /** One of a few for this[name], as radio buttons: {value: words}. */
    choice(name, legend, options) {
      const radios = Object.entries(options).map(([value, words]) => {
        const input = h("input", { type: "radio", name, value,
          onchange: () => this.took(name, value) });
        this.redraws.push(() => {
          input.checked = String(this[name]) === value;
        });
        return h("label", {}, input, words);
      });
      return h("fieldset", {}, h("legend", {}, legend), radios);
    }

    /** One of several for this[name], as a list that opens. */
    select(name, label, options) {
      const input = h("select", {
        onchange: () => this.took(name, input.value) },
      Object.entries(options).map(([value, words]) =>
        h("option", { value }, words)));
      this.redraws.push(() => { input.value = this[name]; });
      return h("label", {}, h("span", { class: "name" }, label), input);
    }

    /** What a reader shall reach, {words: isDone}, below what is said of it. */
    tasks(all) {
      this.status = h("p", { role: "status" });
      this.open = Object.entries(all).map(([words, isDone], at) =>
        ({ words, isDone, at, mark: h("b", {}, "open") }));
      return [this.status, h("ol", { class: "tasks" },
        this.open.map(({ words, mark }) => h("li", {}, mark, words)))];
    }

    /** What is solved stays so, also when all begins again. */
    check(now) {
      this.open = this.open.filter(({ isDone, mark, at }) => {
        if (!isDone(now)) return true;
        mark.textContent = "✓ solved";
        this.status.textContent = `Task ${at + 1} is solved.`;
        return false;
      });
    }
  }

  const define = (tag, made) => {
    if (!customElements.get(tag)) customElements.define(tag, made);
  };
  globalThis.Explorer = { h, s, button, classes, fixed, grouped, raised,
    range, total, dot, softmax, mean, move, linear, axes, wide, swatch, Base,
    define };
})();
