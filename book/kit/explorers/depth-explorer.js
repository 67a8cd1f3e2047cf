"use strict";
// What arrives at the input of a stack of new blocks, from recorded runs.
(() => {
  const { h, s, raised, range, linear, axes, swatch, Base, define } =
    globalThis.Explorer;
  const HEIGHT = 236, LEFT = 46, RIGHT = 14, TOP = 10, BOTTOM = 42;
  const GOOD = "pre-norm";

  /** A power of ten as a reader would write it. */
  const power = (n) => Math.abs(n) <= 3 ? String(Number(`1e${n}`))
    : `10${raised(n)}`;
  /** A number with three digits, given its decimal logarithm. */
  const number = (log) => {
    const size = 10 ** log;
    if (size >= 0.01 && size < 1e4) {
      return size >= 100 ? size.toFixed(0) : size.toPrecision(3);
    }
    const [digits, exponent] = size.toExponential(1).split("e");
    return `${digits}\u00a0·\u00a010${raised(Number(exponent))}`;
  };

  define("depth-explorer", class extends Base {
    static title = "What arrives at the first block?";
    static css = `
      .chart text { fill: var(--muted); }
      .band { fill: var(--hi); opacity: 0.25; }
      .dot { fill: var(--hi); stroke: var(--bg); }
      .other .line { stroke: var(--fg); stroke-dasharray: 6 4; }
      .other .band { fill: var(--fg); opacity: 0.12; }
      .other .dot { fill: var(--fg); }
      .answer { min-height: 3em; margin: 0 0 0.4rem; font-weight: 600; }
      @container (max-width: 34rem) {
        :is(fieldset, legend) { width: 100%; }
      }`;

    static state = { arrangement: "no residual", depth: 24 };

    get fullest() { return [{ depth: 48 }]; }

    build(root) {
      const names = Object.keys(this.runs);
      const same = (list) => Object.fromEntries(list.map((x) => [x, x]));
      this.chart = s("svg", { class: "chart", role: "img", height: HEIGHT });
      root.append(
        h("div", { class: "controls" },
          this.choice("arrangement", "Blocks with",
            same(names.filter((name) => name !== GOOD))),
          this.choice("depth", "How many", same(Object.keys(this.runs[GOOD])))),
        this.part("p", { class: "answer", role: "status" },
          () => this.answer),
        this.part("div", { class: "legend" }, () => this.shown.map((name) =>
          h("span", { class: name === GOOD ? "other" : "" },
            swatch("", s("path", { class: "line", d: "M0,6H28" })), name))),
        this.chart,
        h("p", { class: "note" }, "A gradient of size 1 is put on the output. "
          + `Means of ${this.seeds} seeds; the pale bands are one standard `
          + "error."));
      new ResizeObserver(() => this.draw()).observe(this.chart);
    }

    get shown() { return [this.arrangement, GOOD]; }

    run(name) { return this.runs[name][this.depth]; }

    update() {
      super.update();
      this.draw();
    }

    get answer() {
      const [chosen, good] = this.shown.map((name) =>
        `${number(this.run(name).mean[0])} with ${name}`);
      return `Of a gradient of 1 on the output of ${this.depth} blocks, what `
        + `arrives at the input is ${chosen}, and ${good}.`;
    }

    draw() {
      const width = this.chart.getBoundingClientRect().width || 600;
      const all = this.shown.flatMap((name) => this.run(name).mean);
      const [low, high] = [Math.min(-1, Math.floor(Math.min(...all))),
        Math.max(1, Math.ceil(Math.max(...all)))];
      const step = Math.ceil((high - low) / 5), bottom = HEIGHT - BOTTOM;
      const x = linear([0, this.depth], [LEFT, width - RIGHT]);
      const y = linear([low, high], [bottom, TOP]);
      const blocks = range(5).map((i) => (i * this.depth) / 4);
      this.chart.setAttribute("aria-label", this.answer);
      this.chart.replaceChildren(
        ...axes({ x, y, left: LEFT, right: width - RIGHT, bottom,
          levels: range(high - low + 1, low).filter((n) => n % step === 0),
          level: power, scale: blocks.filter(Number.isInteger),
          name: "block, on the way back ←" }),
        ...this.shown.map((name) => this.line(name, x, y)).reverse());
    }

    /** A mean, the band around it, and where it arrives. */
    line(name, x, y) {
      const { mean, error } = this.run(name);
      const along = (logs) => logs.map((log, i) =>
        `${x(i).toFixed(2)},${y(log).toFixed(2)}`);
      const band = [...along(mean.map((log, i) => log + error[i])),
        ...along(mean.map((log, i) => log - error[i])).reverse()];
      return s("g", { class: name === GOOD ? "other" : "", "data-name": name },
        s("polygon", { class: "band", points: band.join(" ") }),
        s("polyline", { class: "line", points: along(mean).join(" ") }),
        s("circle", { class: "dot", r: 5, cx: x(0), cy: y(mean[0]) }));
    }
  });
})();
