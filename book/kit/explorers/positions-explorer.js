"use strict";
// A query and a key as clock hands that turn with their places: what their
// dot product knows of these, and what it knows where places are added.
(() => {
  const { h, s, dot, fixed, grouped, range, total, swatch, Base, define } =
    globalThis.Explorer;
  const [LAST, FAR] = [80, 20];
  const SPEEDS = range(4).map((i) => 10_000 ** (-i / 4));

  /** What becomes of one pair of entries at a place. */
  const MAKE = {
    turned: ([x, y], angle) => {
      const [c, sn] = [Math.cos(angle), Math.sin(angle)];
      return [x * c - y * sn, x * sn + y * c];
    },
    added: ([x, y], angle) => [x + Math.sin(angle), y + Math.cos(angle)],
  };
  /** The same pair for all four clocks, at a place. */
  const at = (way, pair, place) =>
    SPEEDS.map((speed) => MAKE[way](pair, place * speed));

  const hand = (kind, [cx, cy], r = 4, start = "0,0") =>
    s("g", { class: kind }, s("path", { class: "hand",
      d: `M${start}L${cx},${cy}` }), s("circle", { class: "tip", cx, cy, r }));

  define("positions-explorer", class extends Base {
    static title = "Places as clocks";
    static css = `
      .sliders { --said: 2.5rem; }
      .clocks { display: grid; gap: 0.3rem; margin: 0.6rem 0;
        padding: 0; list-style: none; text-align: center;
        grid-template-columns: repeat(4, minmax(0, 8rem)); }
      .clocks li { display: grid; justify-items: center; line-height: 1.35; }
      .clocks svg { width: 100%; max-width: 6rem; }
      small { color: var(--muted); font-size: 0.8rem; }
      .face { fill: none; stroke: var(--edge); }
      .wedge { fill: color-mix(in srgb, var(--edge) 30%, transparent); }
      .hand { fill: none; stroke: var(--hand); stroke-width: 2.5;
        stroke-linecap: round; }
      .tip { fill: var(--hand); stroke: var(--hand); stroke-width: 2; }
      .m { --hand: var(--c-query); }
      .n { --hand: var(--c-key); }
      .n .tip { fill: var(--bg); }
      .sums { margin: 0.8rem 0 0; }
      .sums :is(th, td) { padding: 0.2rem 1.2rem 0.2rem 0; }
      .sums td { font-size: 1.1rem; font-weight: 600; }
      @container (max-width: 30rem) {
        .sums :is(th, td) { padding-right: 0.6rem; }
      }`;

    static state = { place: 20, distance: 1 };

    get fullest() { return [{ place: LAST, distance: -FAR }]; }

    build(root) {
      root.append(
        h("div", { class: "sliders" },
          this.slider("place", "both start at", range(LAST + 1)),
          this.slider("distance", "distance", range(2 * FAR + 1, -FAR),
            (n) => fixed(n, 0))),
        this.part("p", { class: "legend" }, () => [
          this.entry("m", "query", this.m), this.entry("n", "key", this.n)]),
        this.part("ul", { class: "clocks" }, () => this.clocks),
        h("small", {}, "Under each clock: its part of the turned dot product, "
          + "and ↻ how many places one turn takes."),
        this.part("table", { class: "sums" }, () => this.sums),
        this.part("p", { class: "note", role: "status" }, () => this.answer));
    }

    get m() { return this.place + Math.max(0, -this.distance); }
    get n() { return this.m + this.distance; }

    entry(kind, name, place) {
      return h("span", {}, swatch(kind, hand("", [22, 6], 3.5, "2,6")),
        `${name} at place ${place}`);
    }

    get clocks() {
      const q = at("turned", this.query, this.m);
      const k = at("turned", this.key, this.n);
      return q.map((pair, i) => h("li", {}, this.clock(pair, k[i]),
        h("span", { class: "number" }, fixed(dot(pair, k[i]))),
        h("small", {}, `↻ ${
          grouped(Math.round(2 * Math.PI / SPEEDS[i]))}`)));
    }

    clock(q, k) {
      const tip = (pair) => [pair[0] * 36, -pair[1] * 36];
      return s("svg", { viewBox: "-44 -44 88 88", "aria-hidden": "true" },
        s("circle", { class: "face", r: 36 }), this.wedge(q, k),
        hand("n", tip(k)), hand("m", tip(q)));
    }

    /** The angle between two hands, the short way round. */
    wedge(q, k) {
      const rim = ([x, y]) => {
        const size = 15 / Math.hypot(x, y);
        return `${x * size},${-y * size}`;
      };
      const clockwise = q[0] * k[1] < q[1] * k[0] ? 1 : 0;
      return s("path", { class: "wedge",
        d: `M0,0L${rim(q)}A15,15,0,0,${clockwise},${rim(k)}Z` });
    }

    score(way, m) {
      const k = at(way, this.key, m + this.distance);
      return total(at(way, this.query, m).map((pair, i) => dot(pair, k[i])));
    }

    /** Where both stand, and the two places farthest to the left. */
    get both() { return [this.m, this.m - this.place]; }

    get sums() {
      const head = (scope, words) => h("th", { scope }, words);
      return [h("thead", {}, h("tr", {}, head("col", "query and key at"),
        this.both.map((m) => head("col", `${m} and ${m + this.distance}`)))),
      h("tbody", {}, Object.keys(MAKE).map((way) => h("tr", {},
        head("row", `places ${way}`),
        this.both.map((m) => h("td", {}, fixed(this.score(way, m))))))),
      ];
    }

    get answer() {
      const by = Object.keys(MAKE).map((way) => {
        const [here, there] = this.both.map((m) => this.score(way, m));
        return Math.abs(here - there);
      });
      const says = (change) => change < 0.005 ? "are equal"
        : `differ by ${fixed(change)}`;
      return this.place ? `The same distance, ${this.place} places on: the `
        + `turned dot products ${says(by[0])}, the added ones ${says(by[1])}.`
        : "Move both on: the second column stays.";
    }
  });
})();
