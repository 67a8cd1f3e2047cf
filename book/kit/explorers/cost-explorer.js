"use strict";
// What a decoder costs, operations and bytes, with the numbers put in.
(() => {
  const { h, s, grouped, raised, range, total, Base, define } =
    globalThis.Explorer;
  const LENGTHS = range(17, 4).map((power) => 2 ** power);
  const WIDTHS = [64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 5120,
    6144, 8192, 12288, 16384];
  const CARD = 80e9;
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const LEFT = 58, RIGHT = 20, TOP = 18, ROW = 24, AXIS = 22;
  const HEIGHT = TOP + 3 * ROW + AXIS;

  const divisors = (n, most) =>
    range(Math.floor(most), 1).filter((k) => n % k === 0);
  const largest = (list, most) => list.filter((x) => x <= most).at(-1);
  /** Three digits; as many as there are of whole hundreds. */
  const short = (x) => x >= 100 ? grouped(Math.round(x))
    : String(Number(x.toPrecision(3)));
  const bytes = (x) => {
    const unit = x < 1024 ? 0 : Math.floor(Math.log2(x) / 10);
    return `${short(x / 1024 ** unit)} ${UNITS[unit]}`;
  };
  const operations = (x) => {
    if (x < 1e6) return grouped(x);
    const [digits, power] = x.toExponential(2).split("e+");
    return `${digits} · 10${raised(power)}`;
  };

  /** A factor is a number, or has a text of its own, or is a sum of two. */
  const square = (x) => ({ text: `${grouped(x)}²`, worth: x * x });
  const written = (factor) => Array.isArray(factor)
    ? `(${factor.map(written).join(" + ")})` : factor.text ?? grouped(factor);
  const worth = (factor) => Array.isArray(factor)
    ? total(factor.map(worth)) : factor.worth ?? factor;

  /** Name, formula and factors of each cost. */
  const WORK = {
    projections: ["projections", "4 n d (d + d G/H) L",
      ({ n, d, kv, l }) => [4, n, d, [d, kv], l]],
    network: ["feed-forward", "16 n d² L",
      ({ n, d, l }) => [16, n, square(d), l]],
    pairs: ["scores and means", "4 n² d L",
      ({ n, d, l }) => [4, square(n), d, l]],
  };
  const ROOM = {
    weights: ["weights", "(10 + 2 G/H) d² L b",
      ({ d, twice, l, b }) => [[10, twice], square(d), l, b]],
    cache: ["cache of the text", "2 n d G/H L b",
      ({ n, kv, l, b }) => [2, n, kv, l, b]],
    scores: ["scores of one layer", "H n² b",
      ({ n, heads, b }) => [heads, square(n), b]],
  };

  define("cost-explorer", class extends Base {
    static title = "What a decoder costs";
    static css = `
      .sliders [type="range"] { width: 100%; }
      fieldset { column-gap: 0.6rem; }
      h3 { margin: 0.8rem 0 0.3rem; font-size: 0.9rem; font-weight: 600; }
      .bar { display: flex; height: 1.5rem; border: 1px solid var(--edge); }
      .bar, .swatch { forced-color-adjust: none; }
      .bar span { width: calc(var(--share) * 100%); }
      .projections { background: var(--rule); }
      .network { background: repeating-linear-gradient(45deg,
        var(--edge) 0 2px, var(--bg) 2px 6px); }
      .pairs { background: var(--hi); }
      .scale { display: flex; justify-content: space-between;
        color: var(--muted); font-size: 12px; }
      .costs { width: 100%; margin: 0.3rem 0 0; }
      .costs :is(th, td) { padding: 0.25rem 0 0.1rem; vertical-align: baseline;
        border-top: 1px solid var(--rule); }
      .costs td { padding-left: 0.8rem; text-align: right;
        white-space: nowrap; }
      .costs .formula td { padding: 0 0 0.3rem; border: 0;
        color: var(--muted); font-size: 12px; text-align: left;
        white-space: normal; }
      .formula span { display: inline-block; }
      .swatch { display: inline-block; width: 0.9rem; height: 0.9rem;
        margin-right: 0.4rem; border: 1px solid var(--edge);
        vertical-align: -0.1rem; }
      @container (max-width: 30rem) {
        .costs th { width: 99%; }
        .costs td { padding-left: 0.4rem; }
        .costs .swatch { margin-right: 0.25rem; }
      }
      .chart text { dominant-baseline: central; }
      .chart .tick { fill: var(--muted); text-anchor: middle; }
      .card { stroke: var(--fg); stroke-dasharray: 4 3; }
      .dot { fill: var(--hi); stroke: none; }`;

    static state = { length: 0, width: 0, heads: 0, groups: 0, layers: 0,
      number: 2 };

    build(root) {
      Object.assign(this, this.model);
      this.plot = h("div");
      this.bar = h("div", { class: "bar", role: "img" });
      this.work = h("table", { class: "costs" });
      this.room = h("table", { class: "costs" });
      this.said = h("p", { class: "note", "aria-live": "polite" });
      root.append(
        h("div", { class: "sliders" },
          this.slider("length", "tokens n", LENGTHS),
          this.slider("width", "width d", WIDTHS),
          this.slider("heads", "heads H", () => this.allHeads),
          this.slider("groups", "key heads G", () => this.allGroups),
          this.slider("layers", "layers L", range(128, 1)),
          this.choice("number", "bytes a number b", { 1: 1, 2: 2, 4: 4 })),
        h("h3", {}, "Operations, to read the text"), this.bar,
        h("div", { class: "scale", "aria-hidden": "true" },
          [0, 25, 50, 75, 100].map((x) => h("span", {}, `${x}%`))),
        this.work, h("h3", {}, "Bytes"), this.plot, this.room, this.said);
      new ResizeObserver(() => this.draw()).observe(this.plot);
    }

    get allHeads() {
      return divisors(this.width, Math.min(128, this.width / 4));
    }

    get allGroups() { return divisors(this.heads, this.heads); }

    costs(of) {
      const { length: n, width: d, heads, groups, layers: l, number: b } = this;
      const twice = { text: `2 · ${groups}/${heads}`,
        worth: (2 * groups) / heads };
      const letters = { n, d, heads, kv: (d / heads) * groups, twice, l, b };
      return Object.entries(of).map(([name, [words, formula, split]]) => {
        const factors = split(letters);
        const amount = factors.map(worth).reduce((x, y) => x * y);
        return { name, words, formula, factors, amount };
      });
    }

    update() {
      this.heads = largest(this.allHeads, this.heads);
      this.groups = largest(this.allGroups, this.groups);
      super.update();
      const work = this.costs(WORK), room = this.costs(ROOM);
      const all = total(work.map(({ amount }) => amount));
      const share = (x) => `${((100 * x) / all).toFixed(1)}%`;
      this.bar.replaceChildren(...work.map(({ name, amount }) =>
        h("span", { class: name, "--share": amount / all })));
      this.bar.setAttribute("aria-label", work.map(({ words, amount }) =>
        `${words} ${share(amount)}`).join(", "));
      this.work.replaceChildren(...this.rows(work, operations, share),
        h("tr", {}, h("th", { scope: "row" }, "together"),
          h("td", { "data-cost": "total" }, operations(all)), h("td")));
      this.room.replaceChildren(...this.rows(room, bytes));
      this.say(room);
      this.draw();
    }

    /** Of each cost the result, and the formula with the numbers put in. */
    rows(costs, text, share) {
      return costs.flatMap(({ name, words, formula, factors, amount }) => [
        h("tr", {}, h("th", { scope: "row" },
          share ? h("span", { class: `swatch ${name}` }) : null, words),
        h("td", { "data-cost": name }, text(amount)),
        share ? h("td", {}, share(amount)) : null),
        h("tr", { class: "formula" },
          h("td", { colspan: 3 }, h("span", {}, formula), " ",
            h("span", {}, `= ${factors.map(written).join(" · ")}`)))]);
    }

    say([weights, cache]) {
      const turn = 5 * this.width + (this.width / this.heads) * this.groups;
      const times = short(cache.amount / weights.amount);
      this.said.textContent = "All n² pairs are counted, hidden ones too. They "
        + "cost as much as all the rest at "
        + `n\u00a0= 5\u00a0d\u00a0+ d\u00a0G/H = `
        + `${grouped(turn)}. The cache of this text is `
        + `${times} times as large as the weights.`;
    }

    /** The bytes as dots on one logarithmic scale, and a card of 80 GB. */
    draw() {
      const width = this.plot.clientWidth || 600, room = this.costs(ROOM);
      const x = (amount) => LEFT + (Math.max(0, Math.log2(amount) / 10)
        / (UNITS.length - 1)) * (width - LEFT - RIGHT);
      const line = (at, kind) => s("line", { class: kind, x1: x(at),
        x2: x(at), y1: TOP, y2: HEIGHT - AXIS });
      const y = (i) => TOP + (i + 0.5) * ROW;
      this.plot.replaceChildren(s("svg", { class: "chart", role: "img",
        height: HEIGHT, "aria-label": "On a logarithmic scale: " + room.map(
          ({ words, amount }) => `${words} ${bytes(amount)}`).join(", ") },
      UNITS.map((unit, i) => [line(1024 ** i, "grid"),
        s("text", { class: "tick", x: x(1024 ** i), y: HEIGHT - AXIS / 2,
          "data-bytes": 1024 ** i }, `1 ${unit}`)]),
      line(CARD, "card"),
      s("text", { class: "tick", x: x(CARD), y: TOP / 2 }, "a card of 80 GB"),
      room.map(({ name, amount }, i) => [s("text", { x: 0, y: y(i) }, name),
        s("circle", { class: "dot", r: 6, cx: x(amount), cy: y(i),
          "data-cost": name })])));
    }
  });
})();
