"use strict";
// Scores become shares: temperature, width and scale. softmax.py beside this
// file draws the same random numbers, and the tests compare the two.
(() => {
  const { h, s, axes, fixed, linear, range, softmax, swatch, total, Base,
    define } = globalThis.Explorer;
  const TEMPERATURES = [
    0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25,
    1.5, 2, 2.5, 3, 4, 5, 6, 8, 10,
  ];
  const WIDTHS = [2, 4, 8, 16, 32, 64, 128, 256, 512];
  const [KEYS, DRAWS, WIDEST] = [8, 100, 512];

  /** Mulberry32: the number at a place of a sequence, from 0 to 1. */
  const uniform = (seed, place) => {
    const a = Math.imul(seed, 0x9e3779b1) + Math.imul(place + 1, 0x6d2b79f5);
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  /** Normal numbers, two at a time, by Box and Muller. */
  const normals = (seed, count) => {
    const made = new Float64Array(count);
    for (let i = 0; i < count; i += 2) {
      const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, i)));
      const angle = 2 * Math.PI * uniform(seed, i + 1);
      made[i] = radius * Math.cos(angle);
      made[i + 1] = radius * Math.sin(angle);
    }
    return made;
  };

  /** q · k of a query and eight keys, cut to each width: {width: scores}. */
  const draw = (seed) => {
    const made = normals(seed, WIDEST * (KEYS + 1));
    const scores = new Array(KEYS).fill(0);
    const at = {};
    for (let d = 0; d < WIDEST; d++) {
      const [q, ...k] = made.subarray(d * (KEYS + 1), (d + 1) * (KEYS + 1));
      k.forEach((entry, key) => { scores[key] += q * entry; });
      if (WIDTHS.includes(d + 1)) at[d + 1] = [...scores];
    }
    return at;
  };

  /** e to the entropy: n if all are equal, 1 if one takes everything. */
  const choices = (shares) =>
    Math.exp(-total(shares.map((p) => (p > 0 ? p * Math.log(p) : 0))));

  const line = (kind, d) => s("path", { class: `line ${kind}`, d });
  const dot = (cx, cy) => s("circle", { class: "dot", cx, cy, r: 5 });
  const entry = (mark, name, number) => h("div", {},
    h("dt", {}, swatch("", mark), name),
    h("dd", {}, h("b", {}, fixed(number))));

  define("softmax-explorer", class extends Base {
    static title = "Scores and shares";
    static css = `
      .bars { width: 100%; }
      .bars :is(th, td) { padding: 0.15rem 0.6rem 0.15rem 0; border: 0;
        white-space: nowrap; }
      .bars thead th { color: var(--muted); font-size: 0.8rem; }
      .bars .number { text-align: right; }
      .bars .length { width: 99%; min-width: 3.4rem;
        padding: 0.15rem 0 0.15rem 0.3rem; }
      .track { height: 1.15rem; border-left: 1px solid var(--edge);
        background: repeating-linear-gradient(to left, var(--rule) 0 1px,
          transparent 1px 25%); }
      .bar { width: calc(100% * var(--share)); height: 100%;
        background: var(--hi); }
      .scale { display: flex; justify-content: space-between;
        color: var(--muted); font-size: 0.8rem; line-height: 1; }
      .scale span { display: flex; justify-content: center; width: 0; }
      @media (max-width: 24rem) { .scale :nth-child(even) { display: none; } }
      .facts { display: grid; gap: 0.6rem 2rem; margin: 1rem 0 0;
        grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
      b { font-weight: 600; font-variant-numeric: tabular-nums; }
      .facts b { font-size: 1.25rem; }
      .meter { height: 0.3rem; border-radius: 0.15rem;
        background: var(--rule); overflow: hidden; }
      figure { margin: 1.2rem 0 0; }
      .undivided { stroke: var(--fg); stroke-dasharray: 7 4; }
      @container (max-width: 30rem) {
        .raw, .scale span:nth-child(even) > span { display: none; }
      }`;

    static state = { source: "menu", temperature: 1, width: 64, seed: 1,
      scaled: false };

    build(root) {
      // What the page gives is the menu's; a reader's width is another one.
      this.menu = { scores: this.scores, width: this.width };
      this.width = 64;
      this.picture = s("svg", { class: "chart", role: "img", height: 190,
        "aria-label": "choices left, falling with the width if not divided" });
      const chart = h("figure", {},
        this.part("figcaption", {}, () => `choices left at width ${
          this.width}, mean of ${DRAWS} draws`),
        this.part("dl", { class: "legend" }, () => this.legend),
        this.picture);
      root.append(
        h("div", { class: "controls" }, this.choice("source", "scores of",
          { menu: "menu", random: "random vectors" })),
        h("div", { class: "sliders" },
          this.slider("temperature", "temperature T", TEMPERATURES),
          this.toggle("scaled", "divide by √d"),
          this.slider("width", "width d", WIDTHS),
          this.slider("seed", "draw", range(DRAWS, 1),
            (seed) => `${seed} of ${DRAWS}`)),
        this.part("table", { class: "bars" }, () => this.bars),
        this.part("dl", { class: "facts", "aria-live": "polite" },
          () => this.facts), chart);
      new ResizeObserver(() => this.drawChart()).observe(this.picture);
    }

    get fullest() { return [{ source: "random", scaled: true }]; }

    put(name, value) { // the menu has a width of its own, and no draws
      if (name === "width" || name === "seed") this.source = "random";
      super.put(name, value);
    }

    get found() {
      const isMenu = this.source === "menu";
      const scores = isMenu ? this.menu.scores : draw(this.seed)[this.width];
      const d = isMenu ? this.menu.width : this.width;
      const divisor = this.temperature * (this.scaled ? Math.sqrt(d) : 1);
      const shares = softmax(scores.map((score) => score / divisor));
      return { d, divisor, shares, scores, choices: choices(shares),
        slope: Math.max(...shares.map((p) => p * (1 - p))) };
    }

    /** The mean choices of all draws, at each width. */
    averages(scaled) {
      this.draws ??= range(DRAWS, 1).map(draw);
      return WIDTHS.map((width) => {
        const divisor = this.temperature * (scaled ? Math.sqrt(width) : 1);
        return total(this.draws.map((at) => choices(softmax(
          at[width].map((score) => score / divisor))))) / DRAWS;
      });
    }

    update() {
      this.now = this.found;
      this.means = { divided: this.averages(true),
        undivided: this.averages(false) };
      super.update();
      this.drawChart();
    }

    get bars() {
      const { scaled, source, now: { scores, shares, divisor, d } } = this;
      const column = (words, kind = "") =>
        h("th", { scope: "col", class: `number ${kind}` }, words);
      const number = (x, kind = "") =>
        h("td", { class: `number ${kind}` }, fixed(x));
      const scale = h("div", { class: "scale", "aria-hidden": "true" },
        ["0", "0.25", "0.5", "0.75", "1"].map((tick) =>
          h("span", {}, h("span", {}, tick))));
      const head = h("tr", {}, h("td"), column("q · k", "raw"),
        column(scaled ? `÷ √${d} ÷ T` : "÷ T"), column("share"),
        h("th", { scope: "col", class: "length" },
          h("span", { class: "visually-hidden" }, "bar"), scale));
      const rows = shares.map((share, key) => h("tr", {},
        h("th", { scope: "row" },
          source === "menu" ? this.words[key] : `key ${key}`),
        number(scores[key], "raw"), number(scores[key] / divisor),
        number(share), h("td", { class: "length" }, h("div",
          { class: "track" }, h("div", { class: "bar", "--share": share })))));
      return [h("caption", { class: "visually-hidden" }, "Scores and shares"),
        h("thead", {}, head), h("tbody", {}, rows)];
    }

    get facts() {
      const { choices: left, slope, shares: { length } } = this.now;
      const fact = (name, number, of, share) => h("div", {},
        h("dt", {}, name), h("dd", {}, h("b", {}, number), ` ${of}`,
          h("div", { class: "meter" }, h("div", { class: "bar",
            "--share": share }))));
      return [
        fact("choices left (e to the entropy)", fixed(left), `of ${length}`,
          left / length),
        fact("largest slope (top of J)", fixed(slope, 4), "of at most 0.25",
          slope / 0.25)];
    }

    get legend() {
      const { means: { divided, undivided }, source } = this;
      const at = WIDTHS.indexOf(this.width);
      return [
        entry(line("divided", "M0,6H28"), "divided by √d", divided[at]),
        entry(line("undivided", "M0,6H28"), "not divided", undivided[at]),
        source === "menu" ? [] :
          entry(dot(14, 6), "this draw", this.now.choices)].flat();
    }

    drawChart() {
      const wide = this.picture.getBoundingClientRect().width;
      const [left, right, top, bottom] = [24, wide - 14, 12, 150];
      const place = linear([0, WIDTHS.length - 1], [left, right]);
      const x = (width) => place(WIDTHS.indexOf(width));
      const y = linear([1, KEYS], [bottom, top]);
      const path = (means) =>
        `M${means.map((count, at) => [x(WIDTHS[at]), y(count)]).join("L")}`;
      this.picture.replaceChildren(
        ...axes({ x, y, left, right, bottom, levels: [1, 2, 4, 6, 8],
          scale: WIDTHS, name: "width d" }),
        s("path", { class: "here", d: `M${x(this.width)},${top}V${bottom}` }),
        ...Object.entries(this.means).map(([kind, means]) =>
          line(kind, path(means))),
        ...this.source === "menu" ? [] :
          [dot(x(this.width), y(this.now.choices))]);
    }
  });
})();
