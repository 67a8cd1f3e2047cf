"use strict";
// Attention weights between words: who looks at whom, and how much.
(() => {
  const { h, s, fixed, total, mean, Base, define } = globalThis.Explorer;
  const WIDEST = 12; // pixels, the line of a weight of 1
  const DASHES = [null, "8 4", "2 3", "9 3 2 3"]; // one for each head

  define("weights-explorer", class extends Base {
    static title = "Who looks at whom";
    static css = `
      .head { column-gap: 0.4rem; }
      .all { display: flex; flex-wrap: wrap; gap: 1.2rem 2.2rem;
        align-items: flex-start; }
      .words { display: grid; flex: 1 1 17rem; max-width: 25rem; min-width: 0;
        grid-template-columns: auto minmax(3rem, 1fr) auto;
        grid-auto-rows: 2.1rem; align-items: center; }
      .query { grid-column: 1; text-align: right; }
      .key { grid-column: 3; }
      p.query, p.key { grid-row: 1; margin: 0; padding: 0 0.5rem;
        font-weight: 600; }
      p.query { color: var(--c-query); }
      p.key { color: var(--c-key); }
      .lines { grid-column: 2; grid-row: 2 / span var(--rows);
        width: 100%; height: 100%; }
      path { fill: none; stroke: var(--muted); opacity: 0.14; }
      path.on { stroke: var(--hi); opacity: 0.85; }
      .words label { flex-wrap: nowrap; gap: 0.4rem; min-height: 2.1rem;
        justify-content: space-between; }
      label.query { flex-direction: row-reverse; }
      .word { padding: 0 0.5rem; border: 1px solid var(--edge);
        border-radius: 6px; background: var(--bg); }
      .word, td { background: color-mix(in srgb, var(--hi)
        calc(var(--w, 0) * 45%), var(--bg)); }
      :checked + .word { border-color: var(--hi); font-weight: 700;
        box-shadow: inset 0 0 0 1px var(--hi); }
      :focus-visible + .word { outline: 2px solid var(--hi);
        outline-offset: 2px; }
      .share { display: grid; min-width: 2.2em; text-align: right;
        font-size: 0.8rem; line-height: 1.2; }
      .tables { display: flex; flex-wrap: wrap; gap: 1rem 1.6rem; }
      table { font-size: 0.75rem; }
      caption { white-space: nowrap; }
      caption svg { width: 2.2rem; height: 0.6rem; margin-left: 0.4rem; }
      thead th { padding: 0 0 0.3rem; text-align: center;
        vertical-align: bottom; }
      thead span { display: inline-block; writing-mode: vertical-rl;
        rotate: 180deg; }
      tbody th { padding: 0 0.5rem 0 0; text-align: right; }
      td { min-width: 2rem; height: 2rem; padding: 0; text-align: center;
        border: 1px solid var(--rule); cursor: pointer; }
      .on td, td.on { box-shadow: inset 0 2px var(--hi),
        inset 0 -2px var(--hi); }
      td.on { box-shadow: inset 2px 0 var(--hi), inset -2px 0 var(--hi); }
      th.on, .on th { font-weight: 700; }
      .scale { display: flex; gap: 0.5rem; align-items: center;
        margin: 0.8rem 0 0; color: var(--muted); font-size: 0.8rem; }
      .scale i { width: 7rem; height: ${WIDEST}px; background: var(--hi);
        clip-path: polygon(0 50%, 100% 0, 100% 100%); }
      @container (max-width: 30rem) { legend { width: 100%; } }`;

    static state = { head: "0", side: "query", place: 0 };

    build(root) {
      const { queries: words, heads, percent } = this.given;
      const weights = percent.map((table) => table.map((row) =>
        row.map((text) => Number(text) / 100)));
      Object.assign(this, { words, heads, weights, over: null });
      this.labels = ["query", "key"].flatMap((side) =>
        words.map((word, n) => this.word(side, word, n)));
      this.lines = s("svg", { class: "lines", preserveAspectRatio: "none",
        viewBox: `0 0 100 ${words.length}`, "aria-hidden": "true" });
      this.tables = h("div", { class: "tables" });
      this.note = h("p", { class: "note", role: "status" });
      const names = Object.fromEntries(heads.map((name, n) => [n, name]));
      root.append(
        heads.length > 1 ? h("div", { class: "controls" }, this.choice("head",
          "head", { ...names, mean: "mean of the heads", all: "all heads" })) :
          "",
        h("div", { class: "all" },
          h("div", { class: "words", role: "radiogroup", "aria-label": "word",
            "--rows": words.length }, h("p", { class: "query" }, "asks"),
          h("p", { class: "key" }, "is asked"), this.labels, this.lines),
          this.tables),
        h("p", { class: "scale" }, "weight 0", h("i"), "1"), this.note);
    }

    /** A word to press: what it gives, or what it gets. */
    word(side, word, place) {
      const does = side === "query" ? "asks" : "is asked";
      const input = h("input", { type: "radio", class: "visually-hidden",
        name: "word", "aria-label": `${word} ${does}`,
        onchange: () => this.pick(side, place) });
      this.redraws.push(() => {
        input.checked = this.side === side && this.place === place;
      });
      const over = (chosen) => (event) => {
        if (event.pointerType !== "mouse") return;
        this.over = chosen;
        this.draw();
      };
      const label = h("label", { class: side, onpointerleave: over(null),
        onpointerenter: over({ side, place }) }, input,
      h("span", { class: "word" }, word), h("span", { class: "share" }));
      label.style.gridRow = place + 2;
      return label;
    }

    pick(side, place) {
      this.value = { side, place };
    }

    /** The tables that are looked at: of one head, of the mean, or of all. */
    get shown() {
      const { weights, head } = this;
      if (head === "all") return weights;
      return [head === "mean" ? mean(weights) : weights[head]];
    }

    /** What the chosen word gives, or gets, in each table. */
    shares({ side, place }) {
      return this.shown.map((table) => side === "query" ? table[place] :
        table.map((row) => row[place]));
    }

    update() {
      super.update();
      this.draw();
    }

    draw() {
      const chosen = this.over ?? this;
      const shares = this.shares(chosen);
      this.connect(chosen);
      this.share(chosen, shares);
      this.tables.replaceChildren(...this.shown.map((table, n) =>
        this.table(table, n, chosen)));
      this.note.textContent = shares.map((numbers, n) =>
        this.sentence(chosen, numbers, n)).join(" ");
    }

    isOn({ side, place }, i, j) {
      return place === (side === "query" ? i : j);
    }

    /** A line for each pair of words, those of the chosen word on top. */
    connect(chosen) {
      const lines = this.shown.flatMap((table, n) => table.flatMap((row, i) =>
        row.map((weight, j) => {
          const [from, to] = [i + 0.5, j + 0.5];
          return s("path", { d: `M0 ${from} C45 ${from} 55 ${to} 100 ${to}`,
            class: this.isOn(chosen, i, j) && "on",
            "stroke-width": WIDEST * weight, "stroke-dasharray": DASHES[n],
            "vector-effect": "non-scaling-stroke" });
        })));
      this.lines.replaceChildren(...lines.filter((l) => !l.matches(".on")),
        ...lines.filter((l) => l.matches(".on")));
    }

    /** Beside the words on the other side, their share. */
    share({ side }, shares) {
      const other = this.labels.filter((label) => !label.matches(`.${side}`));
      for (const label of this.labels) {
        const place = other.indexOf(label);
        const own = place < 0 ? [] : shares.map((numbers) => numbers[place]);
        label.style.setProperty("--w", Math.max(0, ...own));
        label.lastChild.replaceChildren(...own.map((share) =>
          h("span", {}, fixed(share))));
      }
    }

    table(weights, n, chosen) {
      const { side, place } = chosen;
      const { words, heads, head } = this;
      const name = heads.length < 2 ? "weights" : head === "mean" ?
        "mean of the heads" : heads[head] ?? heads[n];
      const sample = head !== "all" ? null : s("svg", { "aria-hidden": "true" },
        s("path", { class: "on", d: "M0 5H40", "stroke-width": 4,
          "stroke-dasharray": DASHES[n] }));
      return h("table", {}, h("caption", {}, name, sample),
        h("thead", {}, h("tr", {}, h("th"), words.map((word, j) =>
          h("th", { scope: "col", class: side === "key" && place === j && "on"
          }, h("span", {}, word))))),
        h("tbody", {}, words.map((word, i) =>
          h("tr", { class: side === "query" && place === i && "on" },
            h("th", { scope: "row" }, word), weights[i].map((weight, j) =>
              h("td", { "--w": weight, onclick: () => this.pick("query", i),
                class: side === "key" && place === j && "on" },
              fixed(weight)))))));
    }

    sentence({ side, place }, numbers, n) {
      const asks = side === "query";
      const [does, to] = asks ? ["gives", "to"] : ["gets", "from"];
      const best = numbers.map((share, k) => [share, this.words[k]])
        .filter(([share]) => share >= 0.005).sort((a, b) => b[0] - a[0]);
      const isFlat = best.length > 1 && best[0][0] - best.at(-1)[0] < 0.005 &&
        best.length === numbers.length;
      const said = isFlat ? `${fixed(best[0][0])} ${to} every word` :
        best.slice(0, 3).map(([share, other]) =>
          `${fixed(share)} ${to} “${other}”`).join(", ") +
        (best.length > 3 ? ", …" : "");
      return (this.head === "all" ? `Head “${this.heads[n]}”: ` : "") +
        `“${this.words[place]}” ${does} ${said || "nothing"}; ` +
        `its ${asks ? "row" : "column"} sums to ${fixed(total(numbers))}.`;
    }
  });
})();
