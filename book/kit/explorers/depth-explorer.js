"use strict";
// Size and gradient through a stack of new blocks, from recorded runs.
(() => {
  const { h, s, raised, range, linear, axes, swatch, Base, define } =
    globalThis.Explorer;
  const KINDS = {
    size: ["Size of the vectors", "forward →"],
    gradient: ["Gradient that arrives", "← backward"],
  };
  const HEIGHT = 150, LEFT = 46, RIGHT = 14, TOP = 10, BOTTOM = 22;

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
    return `${digits} · 10${raised(Number(exponent))}`;
  };

  define("depth-explorer", class extends Base {
    static title = "Through a deep stack";
    static css = `
      .charts { touch-action: pan-y; cursor: crosshair; }
      figure { margin: 0; }
      figcaption { display: flex; justify-content: space-between;
        gap: 1rem; }
      figcaption { color: var(--fg); }
      figcaption span, .chart text { color: var(--muted); fill: var(--muted); }
      .band { fill: var(--hi); opacity: 0.25; }
      .dot { fill: var(--hi); stroke: var(--bg); }
      .other .line { stroke: var(--fg); stroke-dasharray: 6 4; }
      .other .band { fill: var(--fg); opacity: 0.12; }
      .other .dot { fill: var(--fg); }
      .reading { width: 100%; margin-top: 0.6rem; }
      .reading th, .reading td { padding: 0.2rem 0.6rem 0.2rem 0;
        text-align: left; vertical-align: baseline; }
      .reading tr > * { border-top: 1px solid var(--rule); }
      .reading thead th { color: var(--muted); border: 0; }
      .reading svg { margin-right: 0.4rem; }
      .scrub { justify-content: center; max-width: none; width: 100%;
        margin: 0.1rem 0 0.8rem; }
      .scrub input[type="range"] { order: -1; max-width: none;
        width: calc(100% - ${LEFT + RIGHT - 16}px);
        margin: 0 ${RIGHT - 8}px 0 ${LEFT - 8}px; }
      .scrub output { min-width: 0; }
      .controls { display: block; }
      .controls :is(legend, .name) { flex: 0 0 7rem; }
      .controls > label { display: flex; }
      .error { color: var(--muted); white-space: nowrap; }
      @container (max-width: 34rem) {
        fieldset { display: grid; gap: 0; grid-template-columns: 1fr 1fr; }
        fieldset:last-of-type { grid-template-columns: repeat(4, 1fr); }
        .controls legend { grid-column: 1 / -1; }
      }`;

    static state = { arrangement: "", compare: "nothing", depth: 24,
      block: 0 };

    build(root) {
      const names = Object.keys(this.record.runs);
      const same = (list) => Object.fromEntries(list.map((x) => [x, x]));
      this.charts = h("div", { class: "charts",
        onpointerdown: (event) => this.point(event),
        onpointermove: (event) => {
          if (event.buttons) this.point(event);
        } });
      this.cursor = this.slider("block", "Read at block",
        () => range(this.depth + 1), (block) => `${block} of ${this.depth}`);
      this.cursor.className = "scrub";
      root.append(
        h("div", { class: "controls" },
          this.choice("arrangement", "Blocks with", same(names)),
          this.select("compare", "Compare with", same(["nothing", ...names])),
          this.choice("depth", "How many", same(this.record.depths))),
        this.charts, this.cursor, h("div", { "aria-live": "polite" },
          this.part("table", { class: "reading" }, () => this.reading)),
        h("p", { class: "note" }, "Block 0 is the input. A gradient of size 1 "
          + `is put on the output. Means of ${this.record.seeds} seeds; `
          + "×/÷ and the pale band are one standard error."));
      new ResizeObserver(() => this.draw()).observe(this.charts);
    }

    point(event) {
      const box = this.charts.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT)
        / (box.width - LEFT - RIGHT);
      const inside = Math.min(1, Math.max(0, share));
      const block = Math.round(inside * this.depth);
      if (block !== this.block) this.put("block", block);
    }

    /** The arrangements that are shown: one, or two. */
    get shown() {
      const names = new Set([this.arrangement, this.compare]);
      return [...names].filter((name) => name in this.record.runs);
    }

    runs(name) { return this.record.runs[name][this.depth]; }

    update() {
      this.block = Math.min(this.block, this.depth);
      super.update();
      this.draw();
    }

    /** The powers of ten between which everything shown lies. */
    get range() {
      const logs = this.shown.flatMap((name) => Object.keys(KINDS).flatMap(
        (kind) => this.runs(name)[kind].mean.map((mean, i) =>
          mean + Math.sign(mean) * this.runs(name)[kind].error[i])));
      return [Math.min(-1, Math.floor(Math.min(...logs))),
        Math.max(1, Math.ceil(Math.max(...logs)))];
    }

    draw() {
      const width = this.charts.clientWidth || 600, [low, high] = this.range;
      const x = linear([0, this.depth], [LEFT, width - RIGHT]);
      const y = linear([low, high], [HEIGHT - BOTTOM, TOP]);
      this.charts.replaceChildren(...Object.entries(KINDS).map(
        ([kind, [title, way]]) => h("figure", {},
          h("figcaption", {}, title, h("span", {}, way)),
          s("svg", { class: "chart", role: "img", height: HEIGHT,
            "aria-label": this.say(kind), "data-kind": kind },
          this.axes(x, y, low, high, width),
          this.shown.map((name, i) => this.line(kind, name, i, x, y)).reverse(),
        ))));
    }

    /** Powers of ten, at most six of them; the line at 1; the blocks. */
    axes(x, y, low, high, width) {
      const step = Math.ceil((high - low) / 5), bottom = HEIGHT - BOTTOM;
      const blocks = range(5).map((i) => (i * this.depth) / 4);
      return [
        ...axes({ x, y, left: LEFT, right: width - RIGHT, bottom,
          levels: range(high - low + 1, low).filter((n) => n % step === 0),
          level: power, scale: blocks.filter(Number.isInteger) }),
        s("path", { class: "here", d: `M${x(this.block)},${TOP}V${bottom}` }),
      ];
    }

    line(kind, name, place, x, y) {
      const { mean, error } = this.runs(name)[kind];
      const along = (logs) => logs.map((log, i) =>
        `${x(i).toFixed(2)},${y(log).toFixed(2)}`);
      const band = [...along(mean.map((log, i) => log + error[i])),
        ...along(mean.map((log, i) => log - error[i])).reverse()];
      return s("g", { class: place ? "other" : "", "data-name": name },
        s("polygon", { class: "band", points: band.join(" ") }),
        s("polyline", { class: "line", points: along(mean).join(" ") }),
        s("circle", { class: "dot", r: 5, cx: x(this.block),
          cy: y(mean[this.block]) }));
    }

    say(kind) {
      const [title] = KINDS[kind];
      const ends = this.shown.map((name) => {
        const { mean } = this.runs(name)[kind];
        return `${name}: ${number(mean[0])} at the input, `
          + `${number(mean.at(-1))} after the last of ${this.depth} blocks`;
      });
      return `${title}, logarithmic axis. ${ends.join(". ")}.`;
    }

    /** The numbers at the chosen block, with one standard error around. */
    get reading() {
      const where = this.block ? `After block ${this.block}` : "At the input";
      const cell = (name, kind) => {
        const { mean, error } = this.runs(name)[kind];
        const factor = (10 ** error[this.block]).toFixed(2);
        return h("td", { "data-kind": kind }, number(mean[this.block]), " ",
          h("span", { class: "error" }, `×/÷ ${factor}`));
      };
      return [
        h("thead", {}, h("tr", {}, [where, "size", "gradient"].map((name) =>
          h("th", { scope: "col" }, name)))),
        h("tbody", {}, this.shown.map((name, i) =>
          h("tr", { class: i ? "other" : "" },
            h("th", { scope: "row" },
              swatch("", s("path", { class: "line", d: "M0,6H28" })), name),
            cell(name, "size"), cell(name, "gradient"))))];
    }
  });
})();
