"use strict";
// Rules of who looks for what, number by number, and who finds whom by them.
(() => {
  const { h, dot, fixed, softmax, Base, define } = globalThis.Explorer;
  const MOST = 20;
  // What a reader shall reach with one number, and whether it is reached.
  const TASKS = {
    "“is” gives more than half to “Life”.":
      (gives) => gives("is", "Life") > 0.5,
    "“short” gives less than 0.05 to “dessert”.":
      (gives) => gives("short", "dessert") < 0.05,
    "“first” gives more than half to “Life”.":
      (gives) => gives("first", "Life") > 0.5,
  };
  const times = (row, table) =>
    table[0].map((_, j) => dot(row, table.map((other) => other[j])));

  define("rules-explorer", class extends Base {
    static title = "Who looks for what";
    static css = `
      .sides { display: grid; gap: 0.8rem 1.6rem;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem),
          1fr)); }
      table { width: 100%; table-layout: fixed; font-size: 0.8rem; }
      caption { color: var(--fg); }
      th { padding: 0.15rem 0.3rem 0.15rem 0; }
      thead th { padding: 0 0 0.2rem; font-size: 0.75rem;
        text-align: center; white-space: nowrap; }
      thead td { width: 3.4rem; }
      td { padding: 1px; text-align: center; }
      input { width: 100%; text-align: center; appearance: textfield; }
      input::-webkit-inner-spin-button { display: none; }
      input.other { border-color: var(--c-query); font-weight: 700;
        box-shadow: inset 0 0 0 1px var(--c-query); }
      .weights td { height: 1.9rem;
        background: color-mix(in srgb, var(--hi) calc(45% * var(--share)),
          var(--bg)); }
      @container (max-width: 26rem) {
        .weights thead th { padding: 0; writing-mode: vertical-rl;
          text-align: right; }
      }`;

    static state = { rules: [] };

    build(root) {
      const { properties } = this;
      this.first = structuredClone(this.rules);
      this.inputs = properties.map((asks, i) => properties.map((sought, j) =>
        h("input", { type: "number", min: -MOST, max: MOST, step: 1,
          "aria-label": `how much a ${asks} looks for: ${sought}`,
          oninput: ({ target }) => this.take(target, i, j),
          onblur: () => this.refresh() })));
      const head = (names) => h("thead", {}, h("tr", {}, h("td"),
        names.map((name) => h("th", { scope: "col" }, name))));
      const rules = h("table", {},
        h("caption", {}, "Row: what a word is. Column: what it looks for."),
        head(properties), h("tbody", {}, this.inputs.map((row, i) =>
          h("tr", {}, h("th", { scope: "row" }, properties[i]),
            row.map((input) => h("td", {}, input))))));
      const weights = h("table", { class: "weights" },
        h("caption", {}, "Weights. Row: who asks. Column: who is asked."),
        head(this.words), this.part("tbody", {}, () => this.table));
      root.append(h("div", { class: "sides" }, rules, weights),
        ...this.tasks(TASKS));
    }

    take({ value, validity }, i, j) {
      if (value === "" || !validity.valid) return;
      this.rules[i][j] = Number(value);
      this.refresh();
    }

    get weights() {
      const { facts, rules } = this;
      return facts.map((fact) => {
        const query = times(fact, rules);
        return softmax(facts.map((key) =>
          dot(key, query) / Math.sqrt(key.length)));
      });
    }

    get table() {
      return this.now.map((row, i) => h("tr", {},
        h("th", { scope: "row" }, this.words[i]),
        row.map((share) => h("td", { "--share": share }, fixed(share)))));
    }

    update() {
      this.now = this.weights;
      super.update();
      let others = 0;
      this.inputs.forEach((row, i) => row.forEach((input, j) => {
        const isOther = this.rules[i][j] !== this.first[i][j];
        others += isOther;
        input.classList.toggle("other", isOther);
        if (this.shadowRoot.activeElement !== input)
          input.value = this.rules[i][j];
      }));
      const at = (name) => this.words.indexOf(name);
      const gives = (asks, asked) => this.now[at(asks)][at(asked)];
      const numbers = others === 1 ? "1 number is" : `${others} numbers are`;
      this.status.textContent = "Tasks, each to be done with one number. " +
        `Now ${numbers} changed.`;
      if (others === 1) this.check(gives);
    }
  });
})();
