"use strict";
// Does it fit? The bytes of a text on a card: weights, cache and scores.
(() => {
  const { h, fixed, grouped, range, total, Base, define } =
    globalThis.Explorer;
  const LENGTHS = range(17, 4).map((power) => 2 ** power);
  const CARD = 80e9;

  /** Three digits at least; a unit of card makers, who count in thousands. */
  const bytes = (x) => {
    const [worth, unit] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]
      .find(([least]) => x >= least) ?? [1, "B"];
    const size = x / worth;
    return `${fixed(size, size < 10 ? 2 : size < 100 ? 1 : 0)} ${unit}`;
  };

  define("cost-explorer", class extends Base {
    static title = "Does it fit on the card?";
    static css = `
      .sliders [type="range"] { width: 100%; }
      .answer { min-height: 3em; margin: 0.6rem 0; font-weight: 600; }
      .bar { position: relative; display: flex; height: 2.2rem;
        margin-top: 0.6rem; background: var(--panel); }
      .bar, .swatch { forced-color-adjust: none; }
      .bar > span { width: calc(var(--share) * 100%); overflow: hidden; }
      .card { position: absolute; inset: -0.4rem auto -0.4rem 0;
        width: calc(var(--share) * 100%);
        outline: 2px solid var(--fg); border-radius: 4px; }
      .small { color: var(--muted); font-size: 0.8rem; }
      .weights { background: var(--edge); }
      .cache { background: repeating-linear-gradient(45deg,
        var(--c-key) 0 4px, var(--bg) 4px 7px); }
      .scores { background: var(--hi); }
      table { width: 100%; margin-top: 1rem; }
      :is(th, td) { padding: 0.3rem 0.5rem 0.3rem 0; vertical-align: baseline;
        border-top: 1px solid var(--rule); }
      td { text-align: right; white-space: nowrap; }
      td:last-child { padding-right: 0; }
      .swatch { display: inline-block; width: 0.9rem; height: 0.9rem;
        margin-right: 0.4rem; vertical-align: -0.1rem; }
      @container (max-width: 30rem) {
        .formula { display: block; font-size: 12px; }
      }`;

    static state = { length: 32_768, groups: 64, number: 2, whole: true };

    build(root) {
      const { width: d, heads, layers } = this.model;
      const divisors = range(heads, 1).filter((g) => heads % g === 0);
      root.append(
        h("div", { class: "sliders" },
          this.slider("length", "tokens n", LENGTHS),
          this.slider("groups", "key heads G", divisors),
          this.choice("number", "bytes a number b", { 1: 1, 2: 2, 4: 4 }),
          this.toggle("whole", "store the table of scores")),
        this.part("p", { class: "answer", role: "status" },
          () => this.answer),
        h("div", { class: "small" }, "outlined: the card, 80 GB"),
        this.part("div", { class: "bar", "aria-hidden": "true" },
          () => this.bar),
        this.part("table", {}, () => this.table),
        h("p", { class: "small" }, `d = ${grouped(d)}, H = ${heads} heads, `
          + `L = ${layers} layers. 1 GB is 10⁹ bytes.`));
    }

    /** Name, formula and bytes of what lies on the card. */
    get parts() {
      const { length: n, groups, number: b, whole } = this;
      const { width: d, heads, layers } = this.model;
      const kv = (d / heads) * groups;
      return [
        ["weights", "(10 d² + 2 d² G/H) L b",
          (10 * d * d + 2 * d * kv) * layers * b],
        ["cache", "2 n d G/H L b", 2 * n * kv * layers * b],
        ["scores", "n² H b, of one layer", whole ? n * n * heads * b : 0],
      ];
    }

    get all() { return total(this.parts.map(([, , size]) => size)); }

    get answer() {
      const { all, parts } = this;
      const most = parts.reduce((a, b) => (a[2] > b[2] ? a : b));
      const left = CARD - all;
      return (left >= 0 ? `It fits: ${bytes(left)} of 80 GB are left.`
        : `It does not fit: ${bytes(-left)} too much.`)
        + ` The largest part: ${most[0]}, ${bytes(most[2])}.`;
    }

    /** As wide as the larger of the two: what is needed, and the card. */
    get bar() {
      const most = Math.max(CARD, this.all);
      return [...this.parts.map(([name, , size]) =>
        h("span", { class: name, "--share": size / most })),
      h("div", { class: "card", "--share": CARD / most })];
    }

    get table() {
      const row = (name, formula, size) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: `swatch ${name}` }), name,
          " ", h("span", { class: "small formula" }, formula)),
        h("td", { "data-cost": name }, bytes(size)));
      return [...this.parts.map((part) => row(...part)),
        row("together", "", this.all)];
    }
  });
})();
