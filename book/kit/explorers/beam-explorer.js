"use strict";
(() => {
  const { h, s, button, classes, fixed, move, range, Base, define } =
    globalThis.Explorer;
  const END = "▪", SIGNS = { "<eos>": END, "<unk>": "?" };
  const PRUNED = 2, WIDEST = 6, LIMIT = 16;
  const OWN = "a date of yours";
  // A box, and from one to the next; heights are tenths of a rem.
  const BOX = { width: 62, height: 30 }, NEXT = { width: 68, height: 40 };

  define("beam-explorer", class extends Base {
    static title = "Beam search";
    static css = `
      form { margin-bottom: 0.8rem; }
      .frame { --next: 6.8rem; }
      .tree { position: relative; margin: 0.3rem 0 0 2.4rem;
        width: calc(var(--cols) * var(--next));
        height: calc(var(--rows) * 4rem - 1rem); }
      .scroll { height: 32rem; overflow: auto; }
      .tree svg { position: absolute; inset: 0; width: 100%; height: 100%; }
      .tree path { fill: none; stroke: var(--edge); stroke-width: 1.5; }
      .tree path.pruned { stroke-dasharray: 3 3; opacity: 0.7; }
      .tree path.on { stroke: var(--hi); stroke-width: 3; }
      .line { display: contents; }
      .line > .name { position: absolute; left: -2.4rem; width: 2rem;
        top: calc(var(--row) * 4rem + 0.8rem); text-align: right;
        font-size: 0.8rem; }
      .box { position: absolute; height: 3rem; padding: 0;
        width: calc(var(--next) * 62 / 68);
        left: calc(var(--col) * var(--next)); top: calc(var(--row) * 4rem);
        overflow: hidden; font: 0.8rem/1.25 var(--code); }
      .box b { display: block; font-size: 0.85rem; font-weight: 400; }
      .box u { font-weight: 700; text-decoration: none; color: var(--hi); }
      .box.pruned { border-style: dashed; background: var(--bg);
        color: var(--muted); }
      .box.pruned u { color: inherit; }
      .box.kept { background: var(--hi-soft); border-color: var(--hi); }
      .box.ended { background: var(--hi-soft); border: 2px solid var(--hi); }
      .box.here { outline: 2px solid var(--fg); outline-offset: 1px; }
      .result { margin: 0.8rem 0 0; font-weight: 600; }
      @container (max-width: 30rem) {
        .frame { --next: 5.6rem; }
        .tree { margin-left: 1.6rem; }
        .line > .name { left: -1.6rem; width: 1.2rem; }
        .box, .box b { font-size: 0.75rem; }
      }`;

    static state = { source: "", text: "", width: 3, penalty: false,
      step: Infinity, row: Infinity, col: 0 };

    get fullest() {
      return [OWN, ...Object.keys(this.trees)].map((source) => ({ source,
        width: WIDEST, penalty: true, step: Infinity, row: Infinity }));
    }

    build(root) {
      Object.assign(this, { steps: [], failed: "", live: null });
      this.legend = h("p", { class: "legend" });
      this.drawn = h("div", { class: "scroll", tabindex: -1, role: "group",
        "aria-label": "The steps of the search",
        onkeydown: (event) => this.key(event) });
      this.result = h("p", { class: "result number", "aria-live": "polite" });
      this.note = h("p", { class: "note number", "aria-live": "polite" });
      root.append(this.controls(), this.asking(), this.legend, this.drawn,
        this.result, this.note);
    }

    /** log p of each letter after some letters: of a table, or the model. */
    next() {
      if (this.source !== OWN) {
        const known = this.trees[this.source];
        this.letters = [...new Set(Object.values(known).flatMap(
          (after) => Object.keys(after)))];
        return (ids) => [this.letters.map((letter) =>
          known[this.textOf(ids)][letter] ?? -Infinity)];
      }
      const { target } = this.live.card;
      this.letters = target.map((token) => SIGNS[token] ?? token);
      return this.live.next(this.live.read(this.text).ids);
    }

    textOf(ids) {
      return ids.map((id) => this.letters[id]).join("");
    }

    /** What is wrong with the question, or nothing. */
    get problem() {
      if (this.source !== OWN) return "";
      return this.live?.read(this.text).problem ?? (this.failed ||
        "Write a date in words, and press “Ask it”.");
    }

    /** Search anew if something else is asked. */
    search() {
      const asked = `${this.source} ${this.text} ${this.width} ${this.penalty}`;
      if (this.problem || asked === this.asked) return;
      this.asked = asked;
      const isWhole = this.step >= this.steps.length;
      const next = this.next(), eos = this.letters.indexOf(END);
      const alpha = this.penalty ? this.alpha : 0;
      const run = (width) => [...globalThis.beamSearch(next, eos,
        { width, alpha, limit: LIMIT, shown: width + PRUNED })];
      this.steps = run(this.width);
      this.greedy = run(1).at(-1)[0];
      if (isWhole) this.step = this.steps.length;
    }

    shown() {
      return this.steps.slice(0, this.step);
    }

    put(name, value) {
      if (name === "source") this.step = Infinity;
      if (["source", "width", "penalty"].includes(name)) {
        [this.row, this.col] = [Infinity, 0];
      }
      super.put(name, value);
      if (name !== "col") this.drawn.scrollTop = this.drawn.scrollHeight;
    }

    async ask(text) {
      this.text = text;
      try {
        this.live ??= await globalThis.LiveDates.load();
        [this.step, this.row, this.col] = [Infinity, Infinity, 0];
      } catch (error) {
        this.failed = error.message;
      }
      this.update();
    }

    controls() {
      const names = [...Object.keys(this.trees), OWN];
      return h("div", { class: "controls" },
        this.select("source", "asked for",
          Object.fromEntries(names.map((name) => [name, name]))),
        this.slider("width", "beams", range(WIDEST, 1),
          (n) => (n === 1 ? "1, greedy" : `${n}`)),
        this.slider("step", "steps", () => range(this.steps.length, 1)),
        this.toggle("penalty", `length penalty, α = ${this.alpha}`));
    }

    asking() {
      const { form, field, send, offer } = globalThis.LiveDates.form(
        this.kilobytes, (text) => this.ask(text));
      this.redraws.push(() => {
        form.hidden = this.source !== OWN;
        if (this.text) field.value = this.text;
        send.textContent = this.live ? "Ask it" : offer;
      });
      return form;
    }

    key(event) {
      const steps = this.shown();
      const to = move(event, [this.row, this.col],
        [steps.length, steps[this.row].length]);
      if (!to) return;
      [this.row, this.col] = to;
      this.refresh();
    }

    /** The places of a box and of those it came from, last step first. */
    path(row, col) {
      const places = [];
      for (let r = row, c = col; r >= 0; r--) {
        places.push(`${r} ${c}`);
        c = this.steps[r][c].parent;
      }
      return places;
    }

    update() {
      this.search();
      this.step = Math.min(this.step, this.steps.length);
      const steps = this.shown();
      this.row = Math.min(this.row, steps.length - 1);
      this.col = Math.min(this.col, steps[this.row].length - 1);
      super.update();
      const on = this.path(this.row, this.col);
      const cols = Math.max(...steps.map((found) => found.length));
      this.drawn.replaceChildren(h("div", { class: "tree", "--cols": cols,
        "--rows": steps.length },
      s("svg", { viewBox: `0 0 ${cols * NEXT.width} ${
        steps.length * NEXT.height - 10}`, "aria-hidden": "true",
      preserveAspectRatio: "none" },
      steps.flatMap((found, row) => found.map((one, col) =>
        this.edge(one, row, col, on)))),
      steps.map((found, row) => h("div", { class: "line", role: "group",
        "aria-label": `step ${row + 1}` },
      h("span", { class: "name", "--row": row }, row + 1),
      found.map((one, col) => this.box(one, row, col))))));
      this.tell(steps);
    }

    edge(one, row, col, on) {
      if (!row) return null;
      const middle = (at) => at * NEXT.width + BOX.width / 2;
      const top = (row - 1) * NEXT.height + BOX.height;
      const [from, to] = [middle(one.parent), middle(col)];
      const end = top + NEXT.height - BOX.height;
      const bend = (top + end) / 2;
      const way = on.includes(`${row} ${col}`) ? " on" : "";
      return s("path", { class: (one.kept ? "" : "pruned") + way,
        d: `M${from} ${top}C${from} ${bend} ${to} ${bend} ${to} ${end}` });
    }

    fate(one) {
      if (!one.kept) return "pruned";
      return one.ended ? "ended" : "kept";
    }

    box(one, row, col) {
      const text = this.textOf(one.ids), fate = this.fate(one);
      const here = row === this.row && col === this.col;
      const number = this.penalty ? one.score : one.logP;
      return button([h("b", {}, text.slice(0, -1), h("u", {}, text.slice(-1))),
        fixed(number, 3), h("span", { class: "visually-hidden" }, ` ${fate}`)],
      () => {
        this.row = row;
        this.put("col", col);
        this.drawn.querySelector(".here").focus();
      }, { "--row": row, "--col": col,
        class: classes("box", fate, here && "here"),
        tabindex: here ? 0 : -1, "aria-pressed": String(here),
        "data-key": here && "here" });
    }

    /** How a sum came about, letter by letter. */
    sum(one) {
      const sums = this.path(this.row, this.col).reverse().map((place) => {
        const [r, c] = place.split(" ");
        return this.steps[r][c].logP;
      });
      return one.ids.map((id, n) => `${fixed(sums[n] - (sums[n - 1] ?? 0))} ` +
        `(${this.letters[id]})`).join(" ");
    }

    tell(steps) {
      const one = steps[this.row][this.col];
      const name = (ids) => `“${this.textOf(ids)}”`;
      const p = (found) => fixed(Math.exp(found.logP), 3);
      const best = this.steps.at(-1)[0];
      const numbers = this.penalty ? "scores" : "sums of log p";
      this.legend.textContent = `${END} ends a text; numbers are ${numbers}; ` +
        "dashed: pruned.";
      this.result.textContent = `${this.width === 1 ? "Greedy" :
        `${this.width} beams`}: ${name(best.ids)}, p ${p(best)}.` +
        (this.width === 1 ? "" : ` Greedy: ${name(this.greedy.ids)}, p ${
          p(this.greedy)}.`);
      const score = this.penalty ? `, score ${fixed(one.score, 3)}` : "";
      this.note.textContent = this.problem || `${name(one.ids)}: log p = ${
        this.sum(one)} = ${fixed(one.logP, 3)}, p ${p(one)}${score}; ${
        this.fate(one)}.`;
      this.note.classList.toggle("warn", Boolean(this.problem));
    }
  });
})();
