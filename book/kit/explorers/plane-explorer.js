"use strict";
// A query and keys in a plane: shadows, scores, shares, and the mean of the
// values, if there are any. Tasks are checked on what a reader has let go.
(() => {
  const { h, s, dot, fixed, linear, range, softmax, Base, define } =
    globalThis.Explorer;
  const [REACH, STEP, EDGE] = [3.5, 0.5, 24];
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
    ArrowDown: [0, -1] };
  // By who asks: what a reader shall reach, and whether it is.
  const TASKS = {
    dessert: {
      'Give "cake" more than half, without moving a key.':
        (now) => now.isStill("keys") && now.of("cake") > 0.5,
      'Give "ice cream" more than 0.95, without moving a key.':
        (now) => now.isStill("keys") && now.of("ice cream") > 0.95,
      'Give two words at different places the same share. "dessert" stays.':
        (now) => now.isStill("query") && now.hasTie,
    },
    wind: {
      "Get more than 20 °C, without moving a key.":
        (now) => now.isStill("keys") && now.mean > 20,
      "Let the mean rest between 17.4 and 17.6 °C, without moving a key.":
        (now) => now.isStill("keys") && Math.abs(now.mean - 17.5) < 0.1,
      "Give north and south more than 0.45 each.":
        (now) => now.of("north") > 0.45 && now.of("south") > 0.45,
    },
  };

  const snapped = (x) =>
    Math.min(REACH, Math.max(-REACH, Math.round(x / STEP) * STEP));
  const said = (vector) =>
    `[${vector.map((x) => fixed(x, x % 1 ? 1 : 0)).join(", ")}]`;
  const word = (x, y, words, anchor = "middle") =>
    s("text", { x, y, "text-anchor": anchor }, words);

  define("plane-explorer", class extends Base {
    static title = "Arrows to drag";
    static css = `
      .sides { display: grid; gap: 0.6rem 1.6rem; align-items: center;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem),
          1fr)); }
      svg { user-select: none; }
      .plane { aspect-ratio: 1; max-width: 24rem; margin: 0 auto; }
      .back text, thead th, small { fill: var(--muted);
        color: var(--muted); }
      .query { --hue: var(--c-query); }
      .key { --hue: var(--c-key); }
      .arrow { stroke: var(--hue); stroke-width: 2.5; }
      .ray { stroke: var(--c-query); stroke-opacity: 0.5; }
      .drop { stroke: var(--c-key); stroke-dasharray: 4 4; }
      .shadow { stroke: var(--fg); stroke-width: 6; stroke-opacity: 0.2; }
      .tip { display: block; /* else Chromium ignores the next */
        touch-action: none; fill: var(--hue); cursor: grab; outline: none; }
      .hold { fill-opacity: 0.16; }
      .tip:focus-visible .hold { stroke: var(--fg); stroke-width: 2.5; }
      .tip text { stroke: var(--bg); stroke-width: 3; paint-order: stroke;
        font-weight: 600; }
      table { width: 100%; table-layout: fixed; font-size: 0.85rem; }
      :is(th, td) { padding: 0.15rem 0; border: 0; }
      small, thead { font-size: 0.75rem; white-space: nowrap; }
      small { display: block; }
      thead td:first-child { width: 4.6rem; }
      .number { text-align: right; white-space: nowrap; }
      .length { padding-left: 0.5rem; }
      .bar { width: calc(100% * var(--share)); height: 1.1rem;
        background: var(--hi); box-shadow: -1px 0 var(--edge); }
      .sum { margin: 0.6rem 0; font-variant-numeric: tabular-nums; }
      .sum b { display: block; }
      .value { fill: var(--c-value); fill-opacity: 0.7; }
      .mean { fill: var(--c-output); stroke: var(--bg); stroke-width: 2; }`;

    static state = { query: [], keys: [] };

    build(root) {
      this.back = s("g", { class: "back", "aria-hidden": "true" });
      this.tips = [this.asker, ...this.names].map((name, at) =>
        this.tip(name, at));
      this.plane = s("svg", { class: "chart plane" }, this.back, this.tips);
      this.line = s("svg", { class: "chart", height: 66 });
      root.append(h("div", { class: "sides" }, this.plane, h("div", {},
        this.part("table", {}, () => this.table),
        this.values && [this.part("p", { class: "sum" }, () => this.sum),
          this.line])),
      ...this.tasks(TASKS[this.asker]));
      this.status.textContent = "Tasks, checked when you let go:";
      new ResizeObserver(() => this.draw()).observe(this.plane);
    }

    /** The query's arrow is number 0, and the keys' follow. */
    place(at) {
      return at ? this.keys[at - 1] : this.query;
    }

    tip(name, at) {
      return s("g", { class: `tip ${at ? "key" : "query"}`, tabindex: 0,
        role: "slider", "aria-label": name,
        "aria-valuemin": -REACH, "aria-valuemax": REACH,
        onkeydown: (event) => this.step(event, at),
        onpointerdown: (event) => this.grasp(event, at),
        onpointermove: (event) => this.drag(event, at),
        onlostpointercapture: () => { this.grip = null; this.refresh(); },
      }, s("circle", { class: "hold", r: 14 }),
      s("path", { d: "M0,0L-12,-5.5V5.5Z" }), word(0, 0, name));
    }

    step(event, at) {
      const way = WAYS[event.key];
      if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.carry(at, this.place(at).map((x, i) => x + STEP * way[i]));
    }

    grasp(event, at) {
      if (event.button) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const [x, y] = this.place(at);
      this.grip = { at, x: event.clientX - this.scale * x,
        y: event.clientY + this.scale * y };
    }

    drag(event, at) {
      if (this.grip?.at !== at) return;
      this.carry(at, [(event.clientX - this.grip.x) / this.scale,
        (this.grip.y - event.clientY) / this.scale]);
    }

    carry(at, to) {
      this.place(at).splice(0, 2, ...to.map(snapped));
      this.refresh();
    }

    update() {
      const { query, keys, names, start, values } = this;
      const scores = keys.map((key) => dot(query, key));
      const shares = softmax(scores);
      this.now = { scores, shares, length: Math.hypot(...query),
        mean: values && dot(shares, values),
        of: (name) => shares[names.indexOf(name)],
        isStill: (name) => String(this[name]) === String(start[name]),
        hasTie: scores.some((score, i) => range(i).some((j) =>
          score === scores[j] && String(keys[i]) !== String(keys[j]))) };
      super.update();
      this.draw();
      if (start && !this.grip) this.check(this.now);
    }

    get table() {
      const { scores, shares, length } = this.now;
      const number = (x) => h("td", { class: "number" }, x);
      return [h("caption", {}, `${this.asker} ${said(this.query)}, length ${
        fixed(length)}`),
      h("thead", {}, h("tr", {}, h("td"), ["shadow", "score", "share"].map(
        (words) => h("th", { scope: "col", class: "number" }, words)),
      h("td"))),
      h("tbody", {}, this.names.map((name, at) => h("tr", {},
        h("th", { scope: "row" }, name, h("small", {}, said(this.keys[at]))),
        number(length ? fixed(scores[at] / length) : "–"),
        number(fixed(scores[at])), number(fixed(shares[at])),
        h("td", { class: "length" },
          h("div", { class: "bar", "--share": shares[at] })))))];
    }

    get sum() {
      const terms = this.values.map((value, at) =>
        `${fixed(this.now.shares[at])} · ${value}`);
      return [terms.join(" + "),
        h("b", {}, `= ${fixed(this.now.mean, 1)} ${this.unit}`)];
    }

    draw() {
      const { query, now, now: { scores, length } } = this;
      const half = this.plane.getBoundingClientRect().width / 2;
      const rim = half - EDGE;
      this.scale = rim / REACH;
      const on = ([x, y]) => [this.scale * x, -this.scale * y];
      this.plane.setAttribute("viewBox",
        `${-half} ${-half} ${2 * half} ${2 * half}`);
      const path = (kind, from, to) =>
        s("path", { class: kind, d: `M${on(from)}L${on(to)}` });
      const times = (n) => query.map((q) => n * q);
      const far = REACH / Math.max(...query.map(Math.abs));
      const ends = [[-rim, -6, "start"], [rim, -6, "end"],
        [6, rim - 4, "start"], [6, 10 - rim, "start"]];
      this.back.replaceChildren(...[
        range(7, -3).map((n) => [
          path(n ? "grid" : "axis", [n, -REACH], [n, REACH]),
          path(n ? "grid" : "axis", [-REACH, n], [REACH, n]),
          word(this.scale * n, half - 6, fixed(n, 0)),
          word(16 - half, 4 - this.scale * n, fixed(n, 0), "end")]),
        ends.map(([x, y, anchor], at) => word(x, y, this.ends[at], anchor)),
        length ? path("ray", times(-far), times(far)) : [],
        length ? this.keys.map((key, at) => {
          const foot = times(scores[at] / length ** 2);
          return [path("shadow", [0, 0], foot), path("drop", key, foot)];
        }) : [],
        this.tips.map((tip, at) => s("g", { class: at ? "key" : "query" },
          path("arrow", [0, 0], this.place(at))))].flat(3));
      const mean = this.values ? [`${fixed(now.mean, 1)} ${this.unit}`] : [];
      const told = this.names.map((name) => `${name} ${fixed(now.of(name))}`);
      this.tips.forEach((tip, at) => {
        const [x, y] = this.place(at);
        const angle = -Math.atan2(y, x) * 180 / Math.PI;
        tip.setAttribute("transform", `translate(${on([x, y])})`);
        tip.children[1].setAttribute("transform", `rotate(${angle})`);
        tip.children[2].setAttribute("y", at && y < 0 ? 25 : -17);
        tip.setAttribute("aria-valuenow", x);
        tip.setAttribute("aria-valuetext",
          [said([x, y]), ...told, ...mean].join(", "));
      });
      if (this.values) this.drawValues();
    }

    drawValues() {
      const { names, values, now: { shares, mean } } = this;
      const most = Math.ceil(Math.max(...values) / 5);
      const x = linear([0, 5 * most],
        [14, this.line.getBoundingClientRect().width - 14]);
      this.line.replaceChildren(
        s("path", { class: "axis", d: `M${x(0)},36H${x(5 * most)}` }),
        ...range(most + 1).map((n) => word(x(5 * n), 64, 5 * n)),
        ...values.flatMap((value, at) => [word(x(value), 12, names[at]),
          s("circle", { class: "value", cx: x(value), cy: 36,
            r: 3 + 11 * Math.sqrt(shares[at]) })]),
        s("path", { class: "mean", d: `M${x(mean)},25l8,11l-8,11l-8,-11Z` }));
    }
  });
})();
