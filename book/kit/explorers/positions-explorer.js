"use strict";
// Places as clock hands, and what a dot product knows of them: sinusoids
// alone, added to a query and a key, or turning the two.
(() => {
  const { h, s, button, fixed, grouped, range, total, linear, axes, swatch,
    Base, define } = globalThis.Explorer;
  const BASES = [10, 100, 1_000, 10_000, 100_000, 500_000, 1_000_000];
  const WIDTHS = [2, 4, 8, 16, 32, 64, 128];
  const VIEWS = { alone: "alone", added: "added", rotary: "rotary" };
  const [LAST, ELSEWHERE, NEAR, CLOCKS] = [100, 100, 40, 8];
  const dot = ([a, b], [c, d]) => a * c + b * d;

  /** What becomes of one pair of entries at a place. */
  const MAKE = {
    alone: (_, angle) => [Math.sin(angle), Math.cos(angle)],
    added: ([x, y], angle) => [x + Math.sin(angle), y + Math.cos(angle)],
    rotary: ([x, y], angle) => {
      const [c, sn] = [Math.cos(angle), Math.sin(angle)];
      return [x * c - y * sn, x * sn + y * c];
    },
  };

  const far = (cx, cy) => s("circle", { class: "far", cx, cy, r: 2.2 });
  const hand = (kind, [cx, cy], r = 4, start = "0,0") =>
    s("g", { class: kind }, s("path", { class: "hand",
      d: `M${start}L${cx},${cy}` }), s("circle", { class: "tip", cx, cy, r }));

  define("positions-explorer", class extends Base {
    static title = "Places as clocks";
    static css = `
      .sliders { --names: 3.9rem; margin-bottom: 0.2rem; }
      fieldset { gap: 0.2rem 0.7rem; }
      .clocks { display: grid; gap: 0.8rem 0.3rem; margin: 0.6rem 0 0;
        padding: 0; list-style: none; text-align: center;
        grid-template-columns: repeat(var(--columns), minmax(0, 8rem)); }
      .clocks li { display: grid; align-content: start;
        justify-items: center; line-height: 1.35;
        font-variant-numeric: tabular-nums; }
      .clocks svg { width: 100%; max-width: 6rem; }
      small, .hint { color: var(--muted); font-size: 0.8rem; }
      .hint { margin: 0.4rem 0 0; }
      .face { fill: none; stroke: var(--edge); }
      .wedge { fill: color-mix(in srgb, var(--edge) 30%, transparent); }
      .hand { fill: none; stroke: var(--hand); stroke-width: 2.5;
        stroke-linecap: round; }
      .tip { fill: var(--hand); stroke: var(--hand); stroke-width: 2; }
      .m { --hand: var(--c-query); }
      .n { --hand: var(--c-key); }
      .n .tip { fill: var(--bg); }
      .alone :is(.m, .n) { --hand: var(--fg); }
      figure { margin: 1.2rem 0 0; }
      dl { display: grid; gap: 0.3rem 2rem; margin: 0.2rem 0 0.8rem;
        grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
      dd { font-size: 1.25rem; font-weight: 600;
        font-variant-numeric: tabular-nums; }
      .far { fill: var(--fg); }
      @container (max-width: 36rem) {
        .clocks { grid-template-columns: repeat(4, minmax(0, 1fr)); }
      }
      @container (max-width: 20rem) {
        fieldset { gap: 0.2rem 0.5rem; }
        .head + .controls legend { width: 100%; }
        button { padding-inline: 0.5rem; }
      }`;

    static state = { view: "rotary", width: 8, base: 10_000, m: 20, n: 21 };

    build(root) {
      this.clocks = h("ul", { class: "clocks" });
      this.hint = h("p", { class: "hint" });
      this.board = h("div", {},
        this.part("p", { class: "legend" }, () => this.legend), this.clocks,
        this.hint);
      this.picture = s("svg", { class: "chart", role: "img", height: 200,
        "aria-label": "the dot product against the distance of the places" });
      const row = (...kids) => h("div", { class: "controls" }, kids);
      const sliders = (...kids) => h("div", { class: "sliders" }, kids);
      root.append(
        row(this.choice("view", "positions", VIEWS)),
        sliders(this.slider("width", "width", WIDTHS),
          this.slider("base", "base", BASES)),
        sliders(this.slider("m", "place m", range(LAST + 1)),
          this.slider("n", "place n", range(LAST + 1))),
        row(h("fieldset", {}, h("legend", {}, "both"),
          [-10, -1, 1, 10].map((by) => button(by < 0 ? `−${-by}` : `+${by}`,
            () => this.move(by))))),
        this.board, h("figure", {},
          h("figcaption", {}, "dot product, by distance n − m"),
          this.part("dl", { class: "facts", "aria-live": "polite" },
            () => this.facts), this.picture));
      new ResizeObserver(() => this.drawChart()).observe(this.picture);
    }

    /** Both places go on, as far as both can. */
    move(by) {
      const { m, n } = this;
      const step = Math.max(-m, -n, Math.min(LAST - m, LAST - n, by));
      this.value = { m: m + step, n: n + step };
    }

    get speeds() {
      return range(this.width / 2).map((i) =>
        this.base ** (-2 * i / this.width));
    }

    /** The pairs of a vector at a place. */
    at(pair, place) {
      const make = MAKE[this.view];
      return this.speeds.map((speed) => make(pair, place * speed));
    }

    score(m, n) {
      const k = this.at(this.key, n);
      return total(this.at(this.query, m).map((pair, i) => dot(pair, k[i])));
    }

    update() {
      super.update();
      this.board.classList.toggle("alone", this.view === "alone");
      this.drawClocks();
      this.drawChart();
    }

    get legend() {
      const { view, m, n } = this;
      const entry = (kind, name, place) => h("span", {},
        swatch(kind, hand("", [22, 6], 3.5, "2,6")),
        view === "alone" ? `place ${place}` : `${name} at place ${place}`);
      return [entry("m", "query", m), entry("n", "key", n)];
    }

    drawClocks() {
      const [q, k] = [this.at(this.query, this.m), this.at(this.key, this.n)];
      const products = q.map((pair, i) => dot(pair, k[i]));
      const { length } = products;
      const count = Math.min(CLOCKS, length);
      const shown = range(count).map((i) => Math.round(
        i * (length - 1) / Math.max(1, count - 1)));
      this.clocks.style.setProperty("--columns", Math.max(4, count));
      this.clocks.replaceChildren(...shown.map((i) => h("li", {},
        h("span", {}, `pair ${i}`), this.clock(q[i], k[i]),
        h("span", {}, fixed(products[i])),
        h("small", {}, `↻ ${
          grouped(Math.round(2 * Math.PI / this.speeds[i]))}`))));
      this.hint.textContent = "Under each clock: its part of the dot product, "
        + "and ↻ how many places one turn takes."
        + (count < length ? ` ${count} of ${length} pairs are shown.` : "");
    }

    clock(q, k) {
      const unit = this.view === "added" ? 20 : 36;
      const tip = (pair) => [pair[0] * unit, -pair[1] * unit];
      return s("svg", { viewBox: "-44 -44 88 88", "aria-hidden": "true" },
        s("circle", { class: "face", r: unit }), this.wedge(q, k),
        hand("n", tip(k)), hand("m", tip(q)));
    }

    /** The angle between two hands, the short way round. */
    wedge(q, k) {
      const rim = ([x, y]) => {
        const size = 15 / (Math.hypot(x, y) || 1);
        return `${x * size},${-y * size}`;
      };
      const clockwise = q[0] * k[1] < q[1] * k[0] ? 1 : 0;
      return s("path", { class: "wedge",
        d: `M0,0L${rim(q)}A15,15,0,0,${clockwise},${rim(k)}Z` });
    }

    get facts() {
      const { m, n } = this;
      const fact = (mark, first) => h("div", {},
        h("dt", {}, mark, `places ${first} and ${first + n - m}`),
        h("dd", {}, fixed(this.score(first, first + n - m), 4)));
      return [fact(swatch("", s("path", { class: "line", d: "M0,6H28" })), m),
        fact(swatch("", [4, 14, 24].map((x) => far(x, 6))), ELSEWHERE)];
    }

    /** [distance, dot product] of a query and the keys that exist. */
    curve(from, step) {
      const reach = Math.abs(this.n - this.m) > NEAR ? LAST : NEAR;
      const points = [];
      for (let d = -Math.min(reach, from); d <= reach; d += step) {
        points.push([d, this.score(from, from + d)]);
      }
      return points;
    }

    drawChart() {
      const [left, right, top, bottom] =
        [34, this.picture.getBoundingClientRect().width - 14, 10, 156];
      const [line, dots] = [this.curve(this.m, 0.25),
        this.curve(ELSEWHERE, this.speeds.length > 16 ? 4 : 2)];
      const reach = line.at(-1)[0];
      const levels = this.levels([...line, ...dots]);
      const x = linear([-reach, reach], [left, right]);
      const y = linear([levels[0], levels.at(-1)], [bottom, top]);
      const at = ([d, score]) => [x(d), y(score)];
      const [cx, cy] = at([this.n - this.m, this.score(this.m, this.n)]);
      const digits = levels.every(Number.isInteger) ? 0 : 1;
      this.picture.replaceChildren(
        ...axes({ x, y, left, right, bottom, levels,
          level: (n) => fixed(n, digits),
          scale: [-1, -0.5, 0, 0.5, 1].map((part) => part * reach),
          words: (d) => fixed(d, 0), name: "← n before m · n after m →" }),
        s("path", { class: "here", d: `M${cx},${top}V${bottom}` }),
        s("path", { class: "line", d: `M${line.map(at).join("L")}` }),
        ...dots.map((point) => far(...at(point))),
        s("circle", { class: "dot", cx, cy, r: 5 }));
    }

    /** Where the scale is marked: 0 and all scores lie between them. */
    levels(points) {
      const pairs = this.speeds.length;
      const scores = [0, ...points.map(([, score]) => score)];
      const [least, most] = [Math.min(...scores), Math.max(...scores)];
      const step = most - least > 3 * pairs ? pairs : pairs / 2;
      const [first, last] = [Math.floor(least / step), Math.ceil(most / step)];
      return range(last - first + 1, first).map((n) => n * step);
    }
  });
})();
