"use strict";
// One attention writes a text token by token, without a cache and with one.
(() => {
  const { h, button, grouped, range, total, Base, define } =
    globalThis.Explorer;
  const MARKS = { new: "●", again: "=", hidden: "×", kept: "✓", none: "" };
  const WORDS = {
    new: "computed, for the first time",
    again: "computed again, the same number",
    hidden: "computed, then hidden by the mask",
    kept: "kept from an earlier step",
    none: "nothing",
  };
  const WAYS = ["Without a cache", "With a cache"];
  const PAUSE = 1200;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  /** Multiplications of one step: four matrices, then scores and means. */
  const STEPS = [
    (t, d) => 4 * t * d * d + 2 * t * t * d,
    (t, d) => 4 * d * d + 2 * t * d,
  ];
  /** Terms that stay whole: a line breaks before a plus. */
  const terms = (text) => text.split(/(?= \+)/)
    .flatMap((term) => [" ", h("span", {}, term.trim())]).slice(1);
  const formula = [
    (t, d) => `4 · ${t} · ${d}² + 2 · ${t}² · ${d}`,
    (t, d) => `4 · ${d}² + 2 · ${t} · ${d}`,
  ];

  /** What becomes of the query, key, value or output of row i in step t. */
  const ofRow = [
    (i, t) => i === t - 1 ? "new" : i < t ? "again" : "none",
    (i, t, isKept) => i === t - 1 ? "new" : i < t && isKept ? "kept" : "none",
  ];
  /** What becomes of the score of query i and key j in step t. */
  const ofPair = [
    (i, j, t) => j >= t ? "none" : i < j && i < t ? "hidden" : ofRow[0](i, t),
    (i, j, t) => j < t ? ofRow[1](i, t, false) : "none",
  ];

  define("cache-explorer", class extends Base {
    static title = "What a step computes";
    static css = `
      .buttons { display: flex; gap: 0.4rem; }
      [aria-disabled="true"] { opacity: 0.6; cursor: default; }
      .panels { display: flex; flex-wrap: wrap; gap: 0.8rem 2rem; }
      .panel { flex: 1 1 16rem; min-width: 0; max-width: 24rem; }
      .grid { width: 100%; table-layout: fixed; border-spacing: 2px;
        border-collapse: separate; line-height: 1; }
      .grid caption { color: var(--fg); font-weight: 600; }
      .grid :is(th, td) { height: 1.6rem; padding: 0; text-align: center;
        font-size: 12px; }
      .grid th { color: var(--muted); font-family: var(--code); }
      .grid th.role { color: var(--role); font-style: italic;
        font-family: inherit; font-weight: 600; }
      .grid th.now { color: var(--fg); font-weight: 700; }
      .query { --role: var(--c-query); }
      .key { --role: var(--c-key); }
      .value { --role: var(--c-value); }
      .out { --role: var(--c-output); }
      .score { --role: var(--muted); }
      [data-state] { border-radius: 3px; border: 1px solid var(--role);
        color: var(--fg); }
      [data-state="new"] { background: var(--role); color: var(--bg); }
      [data-state="again"] { background: repeating-linear-gradient(45deg,
        color-mix(in srgb, var(--role) 32%, var(--bg)) 0 3px,
        color-mix(in srgb, var(--role) 14%, var(--bg)) 3px 6px); }
      [data-state="kept"] {
        background: color-mix(in srgb, var(--role) 14%, var(--bg)); }
      [data-state="hidden"] { border-style: dotted; color: var(--muted); }
      [data-state="none"] { border-color: transparent;
        background: var(--panel); }
      .legend { margin: 0.7rem 0; color: var(--fg); font-size: 0.8rem; }
      .legend li { display: block; }
      .legend span { --role: var(--muted); display: inline-grid;
        place-items: center; width: 1.3rem; height: 1.3rem;
        margin-right: 0.4rem; font-size: 12px; }
      .counts { width: 100%; }
      .counts :is(th, td) { padding: 0.2rem 0.6rem 0.2rem 0;
        border-top: 1px solid var(--rule); vertical-align: baseline; }
      .counts :is(td, thead th + th) { padding: 0.2rem 0 0.2rem 0.6rem;
        text-align: right; }
      .counts thead th { border: 0; color: var(--muted); }
      .counts small { display: block; color: var(--muted);
        font-size: 12px; }
      .counts small span { display: inline-block; }
      .ahead { margin: 0 0 0.6rem; }
      @container (max-width: 26rem) {
        .grid { border-spacing: 1px; }
        .counts { font-size: 0.8rem; }
      }`;

    static state = { width: 64, step: 4 };

    get fullest() { return [{ width: 1024, step: this.length }]; }

    build(root) {
      this.back = button("◀ Back", () => this.go(this.step - 1));
      this.next = button("Next ▶", () => this.go(this.step + 1));
      this.run = button("Play", () => this.play(!this.timer));
      this.said = h("p", { class: "ahead", "aria-live": "polite" });
      this.panels = h("div", { class: "panels" });
      this.counts = h("table", { class: "counts" });
      root.append(
        h("div", { class: "controls" },
          h("div", { class: "buttons" }, this.back, this.next, this.run),
          this.slider("step", "Step", range(this.length, 1),
            (step) => `${step} of ${this.length}`),
          this.select("width", "Width", { 16: "16", 64: "64", 256: "256",
            1024: "1,024" })),
        this.said, this.panels, this.legend(), this.counts,
        h("p", { class: "note" }, "One attention of this width. Above the "
          + "scores stand the keys k and values v of the tokens, beside them "
          + "the queries q and contexts c."));
      this.onkeydown = (event) => this.key(event);
    }

    get length() { return this.tokens.length; }

    disconnectedCallback() { this.play(false); }

    legend() {
      const shown = Object.entries(WORDS).filter(([state]) => MARKS[state]);
      return h("ul", { class: "legend" }, shown.map(([state, words]) =>
        h("li", {}, h("span", { "data-state": state, "aria-hidden": "true" },
          MARKS[state]), words)));
    }

    go(step) {
      if (step >= 1 && step <= this.length) this.put("step", step);
    }

    /** Arrows step from anywhere that has no use for them itself. */
    key(event) {
      const [at] = event.composedPath();
      if (at.matches("input, select") || event.altKey || event.ctrlKey
        || event.metaKey) return;
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.go(this.step + by);
    }

    /** A step a moment, until the end, or until the reader stops it. */
    play(goes) {
      clearInterval(this.timer);
      this.timer = undefined;
      if (goes) {
        if (this.step >= this.length) this.put("step", 1);
        this.timer = setInterval(() => {
          if (this.step >= this.length) this.play(false);
          else this.go(this.step + 1);
        }, PAUSE);
      }
      if (this.run) this.run.textContent = this.timer ? "Pause" : "Play";
    }

    /** Both ways: rows and multiplications so far, and numbers kept. */
    get found() {
      const { step, width } = this;
      return { rows: [total(range(step, 1)), step],
        now: STEPS.map((count) => count(step, width)),
        multiplications: STEPS.map((count) =>
          total(range(step, 1).map((t) => count(t, width)))),
        stored: [0, 2 * step * width] };
    }

    get value() { return super.value; }

    set value(given) {
      this.play(false);
      super.value = given;
    }

    update() {
      super.update();
      // `disabled` would take the keyboard's place away.
      this.back.ariaDisabled = String(this.step === 1);
      this.next.ariaDisabled = String(this.step === this.length);
      this.run.hidden = still.matches;
      this.panels.replaceChildren(this.panel(0), this.panel(1));
      this.count();
    }

    cell(role, state) {
      return h("td", { class: role, "data-state": state },
        h("span", { "aria-hidden": "true" }, MARKS[state]),
        h("span", { class: "visually-hidden" }, WORDS[state]));
    }

    /** Keys and values above the scores, queries and outputs beside them. */
    panel(way) {
      const { tokens, step: t } = this;
      const head = (scope, words, i, role = "") => h("th", { scope,
        class: `${role}${i === t - 1 ? " now" : ""}` }, words);
      const above = (name, role, letter) => h("tr", {},
        head("row", letter, -1, `${role} role`), h("td", {}),
        tokens.map((_, j) => this.cell(role, ofRow[way](j, t, true))),
        h("td", {}));
      const corner = (role, letter) =>
        h("th", { scope: "col", class: `${role} role` }, letter);
      return h("div", { class: "panel" }, h("table", { class: "grid" },
        h("caption", {}, WAYS[way]),
        h("tbody", {},
          h("tr", {}, h("td", {}), h("td", {}),
            tokens.map((word, j) => head("col", word, j)), h("td", {})),
          above("keys", "key", "k"), above("values", "value", "v"),
          h("tr", {}, h("td", {}), corner("query", "q"),
            tokens.map(() => h("td", {})), corner("out", "c")),
          tokens.map((word, i) => h("tr", {}, head("row", word, i),
            this.cell("query", ofRow[way](i, t, false)),
            tokens.map((_, j) => this.cell("score", ofPair[way](i, j, t))),
            this.cell("out", ofRow[way](i, t, false)))))));
    }

    count() {
      const { rows, now, multiplications, stored } = this.found;
      const { step: t, width: d } = this;
      const line = (name, numbers, below) => h("tr", {},
        h("th", { scope: "row" }, name), numbers.map((x, way) =>
          h("td", {}, grouped(x), below
            ? h("small", {}, terms(below(way))) : null)));
      const times = multiplications[0] / multiplications[1];
      this.said.textContent = `Step ${t}: the decoder reads `
        + `“${this.tokens[t - 1]}”. So far it has multiplied `
        + `${times.toFixed(2)} times as often without a cache.`;
      this.counts.replaceChildren(
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "at this step"),
          WAYS.map((way) => h("th", { scope: "col" }, way.toLowerCase())))),
        h("tbody", {}, line("rows computed so far", rows),
          line("multipli\u00adcations", now,
            (way) => formula[way](t, grouped(d))),
          line("multipli\u00adcations so far", multiplications),
          line("numbers kept", stored,
            (way) => way ? `2 · ${t} · ${grouped(d)}` : "none")));
    }
  });
})();
