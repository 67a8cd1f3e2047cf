"use strict";
// A router: which experts each token is sent to, who works and who idles, and
// what a bias changes that enters the choice alone.
(() => {
  const { h, s, button, classes, dot, fixed, range, softmax, total, Base,
    define } = globalThis.Explorer;
  const [UNIT, SIDE, MOST] = [54, 140, 6];
  const STEP = 20; // a bias is a number of twentieths

  const toward = (degrees) => [Math.cos(degrees * Math.PI / 180),
    Math.sin(degrees * Math.PI / 180)];
  const place = ([x, y], times = UNIT, down = 0) =>
    [times * x, down - times * y];
  const sigmoid = (logits) => logits.map((x) => 1 / (1 + Math.exp(-x)));
  /** Where the k largest stand; of equal ones, the first. */
  const best = (numbers, k) => range(numbers.length)
    .sort((a, b) => numbers[b] - numbers[a]).slice(0, k);
  const word = ([x, y], words, kind) =>
    s("text", { x, y, class: kind, "text-anchor": "middle" }, words);
  const mark = (kind, [x, y]) => kind
    ? s("rect", { class: "mark", x: x - 5, y: y - 5, width: 10, height: 10 })
    : s("circle", { class: "mark solid", cx: x, cy: y, r: 5.5 });

  define("router-explorer", class extends Base {
    static title = "Who works, who idles?";
    static css = `
      .sliders { --names: 7.3rem; --said: 3rem; }
      .sliders [type="range"] { width: 100%; }
      .sides { display: grid; gap: 0.6rem 1.6rem; align-items: center;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 17.5rem),
          1fr)); }
      .plane { max-width: 24rem; margin: 0 auto; font-size: 14px; }
      .token { cursor: pointer; }
      .mark { fill: var(--bg); stroke: var(--hi); stroke-width: 2; }
      .solid { fill: var(--hi); }
      .ring { fill: none; stroke: var(--fg); stroke-width: 2; }
      .key { stroke: var(--c-key); stroke-width: 2.5; }
      .turned { stroke-width: 5; }
      .name.number { fill: var(--c-key); font-weight: 600; }
      table { width: 100%; margin-bottom: 0.6rem; font-size: 0.85rem; }
      thead, tfoot th { color: var(--muted); }
      :is(th, td) { padding: 0.1rem 0.3rem 0.1rem 0; border: 0; }
      .number { text-align: right; white-space: nowrap; }
      .length { width: 40%; padding: 0.1rem 0 0.1rem 0.3rem; }
      .mean { padding-left: 0.3rem; border-left: 2px dashed var(--fg);
        white-space: nowrap; }
      .track { position: relative; display: flex; height: 1.1rem;
        background: var(--panel); }
      .track, .solid { forced-color-adjust: none; }
      .track span { width: calc(100% * var(--share)); background: var(--bg);
        box-shadow: inset 0 0 0 2px var(--hi); }
      .track .solid { background: var(--hi); }
      .track i { position: absolute; inset: -0.2rem auto -0.2rem
        calc(100% * var(--share)); border-left: 2px dashed var(--fg); }
      .kind { display: grid; gap: 0.3rem; align-items: center;
        margin-top: 0.3rem; grid-template-columns: 4.4rem repeat(4, 1fr); }
      .kind > span { display: flex; gap: 0.3rem; align-items: center; }
      .kind button { height: 100%; padding: 0.1rem; line-height: 1.35; }
      .kind b { display: block; font-size: 0.8rem; }
      .note { min-height: 1.5em; margin-bottom: 0.6rem; }
      @container (max-width: 30rem) {
        .note { min-height: 3em; }
        .kind { grid-template-columns: repeat(4, 1fr); }
        .kind > span { grid-column: 1 / -1; }
      }`;

    static state = { experts: 4, top: 1, by: "softmax", renormalize: false,
      angles: [], biases: [], expert: 0, token: 0 };

    get fullest() { return [{ experts: MOST, top: MOST, expert: 5 }]; }

    build(root) {
      this.names = Object.keys(this.kinds);
      this.tokens = this.names.flatMap((name, kind) =>
        Object.entries(this.kinds[name]).map(([text, point]) =>
          ({ kind, text, point })));
      root.append(
        h("div", { class: "sliders" },
          this.slider("experts", "experts E", range(MOST - 1, 2)),
          this.slider("top", "top k", () => range(this.experts, 1))),
        h("div", { class: "controls" },
          this.choice("by", "scores by",
            { softmax: "softmax", sigmoid: "sigmoid" }),
          this.toggle("renormalize", "renormalise the weights")),
        h("div", { class: "sides" },
          this.part("div", {}, () => this.plane), h("div", {},
            this.part("table", {}, () => this.table),
            h("div", { class: "sliders" },
              this.named("key", this.slider("angle", "",
                range(72).map((n) => 5 * n), (angle) => `${angle}°`)),
              this.named("bias", this.slider("bias", "",
                range(2 * STEP + 1, -STEP).map((n) => n / STEP),
                (bias) => fixed(bias)))),
            button("Balance: one step", () => this.balance()))),
        this.part("p", { class: "note", role: "status" }, () => this.said),
        "The tokens, and the experts that get them:",
        this.part("div", {}, () => this.names.map((name, kind) =>
          this.row(name, kind))));
    }

    /** The slider of the expert that is chosen, with its number. */
    named(what, label) {
      this.redraws.push(() => {
        label.firstChild.textContent = `${what} of expert ${this.expert + 1}`;
      });
      return label;
    }

    get angle() { return this.angles[this.expert]; }
    set angle(degrees) { this.angles[this.expert] = degrees; }
    get bias() { return this.biases[this.expert]; }
    set bias(number) { this.biases[this.expert] = number; }

    /** A bias falls where more arrives than the mean, and rises below it. */
    balance() {
      const { loads, mean } = this.now;
      this.put("biases", this.biases.map((bias, e) => Math.min(1, Math.max(-1,
        Math.round(STEP * bias + Math.sign(mean - (loads[e] ?? mean)))
          / STEP))));
    }

    get found() {
      const { experts, top, tokens, biases } = this;
      const keys = this.angles.slice(0, experts).map(toward);
      const shares = new Array(experts).fill(0);
      const routed = tokens.map(({ point }) => {
        const logits = keys.map((key) => dot(point, key));
        const scores = (this.by === "softmax" ? softmax : sigmoid)(logits);
        const chosen = best(scores.map((x, e) => x + biases[e]), top);
        const sum = total(chosen.map((e) => scores[e]));
        scores.forEach((x, e) => {
          shares[e] += x / total(scores) / tokens.length;
        });
        return { scores, chosen, weights: scores.map((x, e) =>
          (chosen.includes(e) ? x / (this.renormalize ? sum : 1) : 0)) };
      });
      const parts = range(experts).map((e) => this.names.map((_, kind) =>
        tokens.filter((token, t) => token.kind === kind
          && routed[t].chosen.includes(e)).length));
      const [loads, all] = [parts.map(total), tokens.length * top];
      return { keys, routed, parts, loads, mean: all / experts,
        loss: experts * dot(loads.map((load) => load / all), shares) };
    }

    update() {
      this.top = Math.min(this.top, this.experts);
      this.expert = Math.min(this.expert, this.experts - 1);
      this.now = this.found;
      super.update();
    }

    get said() {
      const { loads, loss } = this.now;
      const idle = range(this.experts).filter((e) => !loads[e]);
      return [idle.length ? `Idle: ${idle.map((e) => e + 1).join(", ")}. `
        : "All work. ", "Balancing loss ", h("b", {},
        fixed(loss)), ", which is 1 where all loads are equal."];
    }

    get table() {
      const { routed, parts, loads, mean } = this.now;
      const { scores, weights, chosen } = routed[this.token];
      const { text } = this.tokens[this.token];
      const number = (x) => h("td", { class: "number" }, x);
      const share = (n) => n / this.tokens.length;
      const heads = ["score", "bias", "weight", "load"].map((name) =>
        h("th", { scope: "col", class: "number" }, name));
      const row = (e) => h("tr", {}, h("th", { scope: "row" },
        button(e + 1, () => this.put("expert", e), { "data-key": `e${e}`,
          "aria-label": `expert ${e + 1}`,
          "aria-pressed": String(e === this.expert) })),
      number(fixed(scores[e])), number(fixed(this.biases[e])),
      number(chosen.includes(e) ? fixed(weights[e]) : "–"), number(loads[e]),
      h("td", { class: "length" }, h("div", { class: "track" },
        parts[e].map((n, kind) => h("span", { "--share": share(n),
          class: kind ? "" : "solid" })),
        h("i", { "--share": share(mean) }))));
      return [h("caption", {}, `Scores of “${text}”, load by all tokens`),
        h("thead", {}, h("tr", {}, h("td"), heads,
          h("th", { scope: "col", class: "length" }, h("span",
            { class: "mean" }, `mean ${fixed(mean, mean % 1 ? 2 : 0)}`)))),
        h("tbody", {}, range(this.experts).map(row)),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "sum"),
          number(fixed(total(scores))), h("td"),
          number(fixed(total(weights))), number(total(loads)), h("td")))];
    }

    get plane() {
      const { keys, routed } = this.now;
      const line = (kind, from, to) => s("path", { class: kind,
        d: `M${from}L${to}` });
      const [x, y] = place(this.tokens[this.token].point);
      return s("svg", { class: "chart plane", role: "img",
        viewBox: `${-SIDE} ${-SIDE} ${2 * SIDE} ${SIDE + 84}`,
        "aria-label": "tokens as points and the experts' keys as arrows" },
      line("axis", [-SIDE, 0], [SIDE, 0]), line("axis", [0, -SIDE], [0, 84]),
      routed[this.token].chosen.map((e) =>
        line("here", [x, y], place(keys[e]))),
      keys.map((key, e) => [line(classes("key", e === this.expert && "turned"),
        [0, 0], place(key)), word(place(key, 1.25 * UNIT, 4), e + 1,
        "name number")]),
      this.tokens.map(({ kind, text, point }, t) => s("g", { class: "token",
        onclick: () => this.put("token", t) }, mark(kind, place(point)),
      word(place(point, UNIT, -12), text))),
      s("circle", { class: "ring", cx: x, cy: y, r: 10 }));
    }

    /** The tokens of a kind, as buttons. */
    row(name, kind) {
      const made = this.tokens.map((token, t) => token.kind !== kind ? []
        : button([h("span", {}, token.text), h("b", {},
          `→ ${this.now.routed[t].chosen.map((e) => e + 1).join(" ")}`)],
        () => this.put("token", t), { "data-key": `t${t}`,
          "aria-pressed": String(t === this.token) }));
      return h("div", { class: "kind", role: "group", "aria-label": name },
        h("span", {}, s("svg", { width: 14, height: 14,
          "aria-hidden": "true" }, mark(kind, [7, 7])), name), made);
    }
  });
})();
