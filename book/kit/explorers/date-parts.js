"use strict";
// What the date explorer draws: characters, probabilities, weights.
(() => {
  if (globalThis.DateParts) return;
  const { h, button, classes, fixed } = globalThis.Explorer;
  const SIGNS = { " ": "␣", "<pad>": "∅", "<bos>": "⊢", "<eos>": "end" };
  // What would be seen as nothing, or on top of its neighbour.
  const sign = (token) => SIGNS[token] ?? (/^\p{M}/u.test(token)
    ? `◌${token}` : /^[\p{C}\u2800]$/u.test(token) ? "�" : token);

  const css = `
    .tiles { display: flex; flex-wrap: wrap; gap: 3px; align-items: center;
      margin: 0 0 0.4rem; }
    .tiles .name { flex: 0 0 100%; }
    .tile { flex: 1 0 24px; max-width: 2.1rem; min-height: 2.6rem;
      padding: 0; font: 600 1.25rem/1 var(--code); }
    .tile.end { flex-basis: 28px; font: 0.75rem/1 var(--font); }
    .tile.wrong { border-style: dashed; border-color: var(--warn);
      color: var(--warn); }
    .later { visibility: hidden; }
    .tops { display: grid; gap: 2px 0.5rem; align-items: center;
      grid-template-columns: auto 1fr auto; margin: 0; }
    .tops dt { min-width: 1.6rem; font-family: var(--code); text-align: right;
      white-space: nowrap; }
    .tops dd { display: contents; }
    .tops i { height: 0.8rem; background: linear-gradient(to right,
      var(--hi) calc(var(--w) * 100%), var(--panel) 0);
      forced-color-adjust: none; }
    .axis { grid-column: 2; display: flex; justify-content: space-between;
      color: var(--muted); font-size: 0.75rem; line-height: 1.3; }
    .look { position: relative; table-layout: fixed; line-height: 1.25;
      width: min(100%, calc(2.2rem + var(--n) * 1.5rem));
      min-width: calc(2.2rem + var(--n) * 0.6rem); }
    .look th { padding: 0; text-align: center; font: 0.8rem/1.25 var(--code); }
    .look th:first-child { width: 2.2rem; padding-right: 0.4rem;
      text-align: right; white-space: nowrap; }
    .look td { padding: 0; border: 1px solid var(--bg);
      forced-color-adjust: none; }
    .look .bars td { height: 3.4rem; border-block-color: var(--rule);
      background: linear-gradient(to top,
      var(--hi) calc(var(--w) * 100%), transparent 0) padding-box; }
    .look .bars div { display: flex; flex-direction: column;
      justify-content: space-between; height: 3.4rem;
      font: 0.75rem/1 var(--font); color: var(--muted); }
    .look tbody td { height: 1.15rem; cursor: pointer;
      background: color-mix(in srgb, var(--hi) calc(var(--w) * 100%),
      var(--panel)); }
    .look tbody .unseen { background: repeating-linear-gradient(135deg,
      var(--rule) 0 1px, transparent 1px 5px); }
    .look .here td { border-block: 2px solid var(--fg); }
    .look .here th { font-weight: 700; }`;

  /** The tokens as buttons, one stop of the keyboard; those from `shown` on
   * are hidden. */
  function tiles(tokens, { chosen, shown, choose, name, wanted = tokens }) {
    return h("div", { class: "tiles", role: "group",
      "aria-label": name ?? "What it writes" },
    name ? h("span", { class: "name" }, name) : null,
    tokens.map((token, t) => button(sign(token), () => choose(t), {
      class: classes("tile", token.length > 1 && "end",
        token !== wanted[t] && "wrong", t >= shown && "later"),
      tabindex: t === chosen ? 0 : -1, "aria-pressed": String(t === chosen),
      "aria-label": `${sign(token)}, character ${t + 1} of ${tokens.length}`,
      "data-key": `${name ?? "tile"} ${t}` })));
  }

  /** Bars from 0 to 1 for [[token, p], …]. */
  function tops(pairs) {
    return h("dl", { class: "tops" },
      pairs.map(([token, p]) => [h("dt", {}, sign(token)), h("dd", {},
        h("i", { "--w": p }), h("span", { class: "number" }, fixed(p)))]),
      h("dd", { "aria-hidden": "true" }, h("span", { class: "axis" },
        h("span", {}, "0"), h("span", {}, "0.5"), h("span", {}, "1"))));
  }

  /** Weights: a chosen row as bars over its keys, then all rows, up to
   * `shown`. `unseen(i, j)`: hidden by a mask. `only`: no other rows. */
  function look({ rows, row, shown, asks, keys, caption, unseen, choose,
    only }) {
    const number = (w) => (w >= 0.005 ? h("span",
      { class: "visually-hidden" }, fixed(w)) : null);
    const lines = rows.map((weights, i) => h("tr", {
      class: classes(i >= shown && "later", i === row && "here") },
      h("th", { scope: "row" }, sign(asks[i])),
      keys.map((_, j) => h("td", { "--w": weights[j] ?? 0,
        class: unseen(i, j) && "unseen", onclick: () => choose(i) },
      number(weights[j])))));
    const bars = keys.map((_, j) => h("td", { "--w": rows[row]?.[j] ?? 0 }));
    return h("table", { class: "look", "--n": keys.length },
      h("caption", {}, caption),
      h("thead", {},
        h("tr", { class: "bars", "aria-hidden": "true" },
          h("th", {}, h("div", {}, h("span", {}, "1"), h("span", {}, "0"))),
          bars),
        h("tr", {}, h("td"),
          keys.map((key) => h("th", { scope: "col" }, sign(key))))),
      only ? null : h("tbody", {}, lines));
  }

  /** The largest weights in words. */
  function most(weights, keys) {
    return Array.from(weights, (w, j) => [w, j]).filter(([w]) => w >= 0.05)
      .sort((a, b) => b[0] - a[0]).slice(0, 3)
      .map(([w, j]) => `${sign(keys[j])} ${fixed(w)}`).join(", ");
  }

  globalThis.DateParts = { css, tiles, tops, look, most, sign };
})();
