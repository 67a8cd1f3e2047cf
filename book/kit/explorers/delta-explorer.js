"use strict";
// A log is written into a memory of one size: add, overwrite, forget first.
// delta.py beside this file does the same in torch.
(() => {
  const { h, classes, dot, fixed, range, Base, define } =
    globalThis.Explorer;
  const PARTS = range(21).map((n) => n / 20); // from 0 to 1
  const VALUES = range(41, -20).map((n) => n / 2);
  /** At most two digits behind the point. */
  const short = (x) => fixed(x).replace(/\.?0+$/, "");
  const degrees = (x) => `${short(x)}°`;

  define("delta-explorer", class extends Base {
    static title = "Add or overwrite?";
    static css = `
      .sliders { --names: 6.2rem; --said: 4.2rem; }
      .sliders [type="range"] { width: 100%; }
      .log { display: grid; gap: 0.3rem; margin: 0 0 0.6rem; padding: 0;
        list-style: none; text-align: center;
        grid-template-columns: repeat(4, 1fr); }
      .log li { padding: 0.1rem 0.2rem; border: 1px solid var(--edge);
        border-radius: 6px; }
      .log .old { color: var(--muted); text-decoration: line-through; }
      .log .now { border-color: var(--hi); background: var(--hi-soft);
        box-shadow: inset 0 0 0 1px var(--hi); font-weight: 600; }
      .log .later { border-style: dashed; color: var(--muted); }
      .said { min-height: 3em; margin: 0 0 0.6rem; }
      .tables { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem;
        align-items: start; }
      .tables > * { flex: 1 1 13rem; min-width: 0; }
      .tables > .answers { flex: 2 1 20rem; }
      table { width: 100%; }
      caption { color: var(--fg); font-weight: 600; }
      :is(th, td) { padding: 0.2rem 0.6rem 0.2rem 0; vertical-align: top;
        border-top: 1px solid var(--rule); }
      thead > tr > * { border: 0; vertical-align: bottom; }
      thead, caption code { color: var(--muted); }
      caption code { display: block; }
      .memory th, small { white-space: nowrap; }
      .number { text-align: right; }
      th small { display: block; color: var(--muted); font-size: 0.8rem; }
      .key { color: var(--c-key); }
      .value { color: var(--c-value); }
      .output { color: var(--c-output); }
      i { font-weight: 600; white-space: nowrap; }
      td.verdict { padding-right: 0; white-space: nowrap; }
      .facts { display: grid; gap: 0.6rem 2.5rem; margin: 1rem 0 0;
        grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
      .meter { height: 0.5rem; background: var(--panel); }
      .bar { width: calc(100% * var(--share)); height: 100%;
        background: var(--hi); forced-color-adjust: none; }
      @container (max-width: 30rem) {
        .log { grid-template-columns: repeat(auto-fill, minmax(5.6rem, 1fr)); }
        :is(th, td) { padding-right: 0.4rem; }
        td.verdict { width: 5.6rem; white-space: normal; }
        .controls legend { width: 100%; }
      }
      @container (max-width: 20rem) { small { white-space: normal; } }`;

    static state = { rule: "add", step: 4, beta: 1, alpha: 0.9, alike: 0,
      values: [] };

    get fullest() {
      return [{ rule: "forget", step: this.names.length, beta: 0.35,
        alpha: 0.95, alike: 0.55, values: this.names.map(() => -9.5) }];
    }

    build(root) {
      this.asked = [...new Set(this.names)];
      const part = (name, label, ...rules) => {
        const made = this.slider(name, label, PARTS, fixed);
        const input = made.querySelector("input");
        this.redraws.push(() => {
          input.disabled = !rules.includes(this.rule);
        });
        return made;
      };
      root.append(
        h("div", { class: "controls" }, this.choice("rule", "Rule",
          { add: "add", overwrite: "overwrite",
            forget: "forget and overwrite" })),
        h("div", { class: "sliders" },
          this.slider("step", "readings", range(this.names.length, 1),
            (step) => `${step} of ${this.names.length}`),
          this.slider("last", "last value v", VALUES, degrees),
          this.slider("alike", this.asked.slice(0, 2).join(" · "), PARTS,
            (cosine) => `cos ${fixed(cosine)}`),
          part("beta", "overwrite β", "overwrite", "forget"),
          part("alpha", "keep α", "forget")),
        this.part("ol", { class: "log", "aria-label": "readings" },
          () => this.log),
        this.part("p", { class: "said", role: "status" }, () => this.said),
        h("div", { class: "tables" },
          this.part("table", { class: "memory" }, () => this.memory),
          this.part("table", { class: "answers" }, () => this.answers)),
        this.part("dl", { class: "facts" }, () => this.facts));
    }

    /** The reading that was written last; the slider changes it. */
    get last() { return this.values[this.step - 1]; }

    set last(value) { this.values[this.step - 1] = value; }

    /** Unit vectors; the second has the chosen cosine with the first. */
    get keys() {
      const { asked, alike } = this;
      const units = asked.map((_, i) => asked.map((_, j) => Number(i === j)));
      units[1] = [alike, Math.sqrt(1 - alike * alike), ...units[1].slice(2)];
      return units;
    }

    /** The last write: the memory before it, how much of that is kept and
     * what this answers, how much of the key is added, the memory after. */
    get write() {
      const { rule, beta, keys, names, asked, values, step } = this;
      const keep = rule === "forget" ? this.alpha : 1;
      let now = { after: asked.map(() => 0) };
      for (const [t, name] of names.slice(0, step).entries()) {
        const k = keys[asked.indexOf(name)], before = now.after;
        const kept = before.map((x) => keep * x), answer = dot(k, kept);
        const added = rule === "add" ? values[t]
          : beta * (values[t] - answer);
        now = { k, before, keep, answer, added,
          after: kept.map((x, i) => x + added * k[i]) };
      }
      return now;
    }

    /** What was written last under each name, and what is answered now. */
    get found() {
      const { after } = this.write;
      return this.asked.map((name, i) => {
        const at = this.names.slice(0, this.step).lastIndexOf(name);
        const answer = dot(this.keys[i], after), wanted = this.values[at];
        const over = Math.abs(answer - wanted) < 0.005 ? 0 : answer - wanted;
        return { name, k: this.keys[i], answer, wanted, over };
      });
    }

    get log() {
      const { names, values, step } = this;
      return names.map((name, t) => {
        const kind = t >= step ? "later" : t === step - 1 ? "now"
          : names.slice(0, step).lastIndexOf(name) > t ? "old" : "";
        const words = { later: ", not written yet", now: ", written last",
          old: ", an older reading" }[kind];
        return h("li", { class: kind }, `${name} ${degrees(values[t])}`,
          h("span", { class: "visually-hidden" }, words));
      });
    }

    get said() {
      const { rule, step, names, last, alpha, beta } = this;
      const { answer, added } = this.write;
      const name = names[step - 1];
      const known = this.found.filter((one) => one.wanted !== undefined);
      const right = known.filter((one) => !one.over).length;
      const times = rule === "forget" ? `, times α = ${short(alpha)},` : "";
      const how = rule === "add"
        ? `The key of ${name}, times ${short(last)}, was added to the memory.`
        : `The memory${times} answered ${degrees(answer)}. The error was `
          + `${degrees(last - answer)}, so β = ${short(beta)} added `
          + `the key of ${name}, times ${short(added)}.`;
      return `Reading ${step}, ${name} ${degrees(last)}. ${how} `
        + `Right answers: ${right} of ${known.length}.`;
    }

    table(caption, columns, rows) {
      const head = ([words, kind, letter]) => h("th", { scope: "col",
        class: letter && "number" }, words, " ",
      letter && h("i", { class: kind }, letter));
      return [h("caption", {}, caption),
        h("thead", {}, h("tr", {}, h("td"), columns.map(head))),
        h("tbody", {}, rows.map(([name, ...cells]) => h("tr", {},
          h("th", { scope: "row" }, name), cells)))];
    }

    get memory() {
      const { before, k, keep, added, after } = this.write;
      const kept = keep === 1 ? "" : ` ${short(keep)}`;
      const sum = short(added).replace(/^−?/, (sign) => `${sign || "+"} `);
      return this.table(
        ["The memory ", h("code", {}, `S ←${kept} S ${sum} k`)],
        [["before", "", "S"], ["key", "key", "k"], ["after", "", "S"]],
        after.map((x, i) => [`entry ${i}`, ...[before[i], k[i], x].map((one) =>
          h("td", { class: "number" }, fixed(one)))]));
    }

    get answers() {
      const number = (text) => h("td", { class: "number" }, text);
      const verdict = (over) => over
        ? `✗ ${short(Math.abs(over))} too ${over > 0 ? "high" : "low"}`
        : "✓ right";
      return this.table("What it answers", [["answer", "output", "kᵀS"],
        ["written last", "value", "v"], ["verdict"]],
      this.found.map(({ name, k, answer, wanted, over }) => [
        [name, " ", h("small", {}, `(${k.map(short).join(", ")})`)],
        number(h("b", {}, `${fixed(answer)}°`)),
        number(wanted === undefined ? "nothing" : degrees(wanted)),
        h("td", { class: classes("verdict", over && "warn") },
          wanted === undefined ? "" : verdict(over))]));
    }

    get facts() {
      const { asked: { length: d }, names, step } = this;
      const most = names.length * (d + 1);
      const fact = (name, count, how) => h("div", {}, h("dt", {}, name),
        h("dd", {}, h("b", {}, count), how, h("div", { class: "meter" },
          h("div", { class: "bar", "--share": count / most }))));
      return [fact("numbers in the memory", d, ", for any number of readings"),
        fact("numbers in a cache of all readings", step * (d + 1),
          ` = ${step} keys of ${d}, ${step} values`)];
    }
  });
})();
