"use strict";
(() => {
  const { h, button, move, Base, define } = globalThis.Explorer;
  // How a pair that is allowed and one that is hidden are written, and what
  // joins two masks.
  const CONVENTIONS = {
    ours: { words: "True = allowed (book, SDPA)",
      yes: "True", no: "False", joins: "&" },
    module: { words: "True = hidden (torch’s module)",
      yes: "False", no: "True", joins: "|" },
    additive: { words: "0 or −∞ (added to scores)",
      yes: "0", no: "−∞", joins: "+" },
    numbers: { words: "1 or 0 (tokenizers)", yes: "1", no: "0", joins: "×" },
  };
  const shape = (...axes) => `(${axes.join(", ")})`;

  /** The lines that make such masks and use them: [code, shape]. */
  const code = (convention, ids, keys, padding, causal) => {
    const one = shape(1, 1, 1, keys);
    const all = shape(1, 1, keys, keys);
    const real = `padding_mask_from_ids(${ids}, PAD)`;
    const triangle = `causal_mask(${keys})`;
    const [pad, past, join, use, none] = {
      ours: [[real, one], [triangle, all], "may_attend = pad & causal",
        "attention(q, k, v, may_attend)", "attention(q, k, v)"],
      additive: [[`additive(${real})`, one], [`additive(${triangle})`, all],
        "M = pad + causal", "softmax(scores + M) @ v", "softmax(scores) @ v"],
      numbers: [[`(${ids} != PAD).long()[:, None, None]`, one],
        [`${triangle}.long()`, all], "ones = pad * causal",
        "attention(q, k, v, from_zero_one(ones))", "attention(q, k, v)"],
      module: [[`${ids} == PAD`, shape(1, keys)],
        [`~${triangle}[0, 0]`, shape(keys, keys)], "",
        `module(q, k, v${padding ? ", key_padding_mask=pad" : ""}${
          causal ? ", attn_mask=causal" : ""})`, "module(q, k, v)"],
    }[convention];
    const lines = [];
    if (padding) lines.push([`pad = ${pad[0]}`, pad[1]]);
    if (causal) lines.push([`causal = ${past[0]}`, past[1]]);
    if (lines.length === 2 && join) lines.push([join, all]);
    if (lines.length === 1 && join) {
      lines[0][0] = lines[0][0].replace(/^\w+/, join.split(" ")[0]);
    }
    return [...lines, [padding || causal ? use : none, ""]];
  };

  define("mask-explorer", class extends Base {
    static title = "Mask builder";
    static css = `
      .frame { --hatched: repeating-linear-gradient(135deg,
          var(--rule) 0 1px, var(--panel) 1px 5px);
        --tinted: color-mix(in srgb, var(--hi) 24%, var(--bg)); }
      .board { display: grid; gap: 0.6rem 1.6rem; align-items: start; }
      th { height: 1.9rem; padding: 0 0.5rem 0 0; text-align: right;
        white-space: nowrap; }
      th.at { color: var(--hi); font-weight: 600; }
      thead th { padding: 0; text-align: center; vertical-align: bottom; }
      thead button { width: 100%; min-width: 1.9rem; padding: 0.3rem 0.1rem;
        border-color: var(--rule); white-space: nowrap; }
      thead button:hover { border-color: var(--edge); }
      thead button[aria-pressed="true"] { border: 1px dashed var(--edge);
        background: none; box-shadow: none; color: var(--muted); }
      td { width: 3.1rem; min-width: 1.9rem; height: 1.9rem; padding: 0;
        border: 1px solid var(--bg); background: var(--hatched);
        color: var(--muted); font-size: 0.8rem; text-align: center;
        cursor: pointer; }
      .corner { background: none; cursor: auto; }
      .seen { background: var(--tinted);
        color: var(--fg); }
      td:focus-visible { outline-offset: -1px; }
      td[aria-selected="true"] { box-shadow: inset 0 0 0 2px var(--hi); }
      .empty > * { color: var(--warn); font-weight: 600; }
      .legend { margin: 0.5rem 0 0; font-size: 0.8rem; }
      .legend + .legend { margin-top: 0.1rem; }
      .legend span::before { content: ""; width: 0.8em; height: 0.8em;
        border: 1px solid var(--edge); background: var(--hatched); }
      .legend .yes::before { background: var(--tinted); }
      .sum { display: flex; flex-wrap: wrap; gap: 0.3rem 0.7rem;
        align-items: center; min-height: 5.6rem; }
      .sum figure { margin: 0; text-align: center; font-size: 0.8rem; }
      .sum div { display: grid; gap: 1px; margin: 0 auto 0.2rem;
        width: max-content; grid-template-columns: repeat(var(--n), 10px); }
      .sum i { height: 10px; background: var(--rule); }
      .sum i.seen { background: color-mix(in srgb, var(--hi) 65%, var(--bg)); }
      .joins { font: 1.1rem var(--code); }
      .sum + .note ~ p { margin: 0.6rem 0 0; }
      .code > * { display: block; padding-left: 2ch; text-indent: -2ch;
        white-space: pre-wrap; }
      .code span { display: inline-block; margin-left: 2ch; text-indent: 0;
        color: var(--muted); }
      @container (min-width: 37rem) {
        .board { grid-template-columns: max-content 1fr; }
        .code span { float: right; }
      }
      @container (max-width: 30rem) {
        fieldset:first-child legend { width: 100%; }
        table { width: 100%; max-width: 21rem; }
        tbody td { font-size: 0.75rem; }
        thead button { font-size: 0.8rem; }
        .sum { column-gap: 0.4rem; }
        .long thead button { height: 4.2rem; text-align: left;
          writing-mode: sideways-lr; }
        @supports not (writing-mode: sideways-lr) {
          .long thead button { writing-mode: vertical-rl; rotate: 180deg; }
        }
      }`;

    static state = { where: "decoder", padding: true, causal: true,
      convention: "ours", cell: [1, 3], pads: {} };

    get fullest() {
      const pads = { source: this.source.map(() => true),
        target: this.target.map((_, place) => !place) };
      return Object.keys(CONVENTIONS).flatMap((convention) =>
        ["encoder", "decoder", "cross"].map((where) => ({ where, convention,
          padding: true, causal: true, pads, cell: [0, 4] })));
    }

    build(root) {
      this.words = { source: this.source, target: this.target };
      Object.entries(this.words).forEach(([side, words], n) => {
        this.pads[side] = words.map((_, place) => place >= this.lengths[n]);
      });
      this.board = h("div", { class: "scroll" });
      this.legend = h("p", { class: "legend" });
      this.sum = h("div", { class: "sum" });
      this.why = h("p", { class: "note", "aria-live": "polite" });
      this.count = h("p");
      this.alarm = h("p", { class: "warn", role: "status" });
      this.lines = h("pre", { class: "code" });
      root.append(
        h("div", { class: "controls" },
          this.choice("where", "attention", { encoder: "in the encoder",
            decoder: "in the decoder", cross: "across, to the memory" }),
          h("fieldset", {}, h("legend", {}, "masks"),
            this.toggle("padding", "padding"), this.toggle("causal", "causal")),
          this.select("convention", "convention", Object.fromEntries(
            Object.entries(CONVENTIONS).map(([k, v]) => [k, v.words])))),
        h("div", { class: "board" },
          h("div", {}, this.board, this.legend,
            h("p", { class: "legend" },
              "Press a word above its column to make it PAD.")),
          h("div", {}, this.sum, this.why, this.count, this.alarm)),
        this.lines);
    }

    get keySide() { return this.where === "decoder" ? "target" : "source"; }
    get querySide() { return this.where === "encoder" ? "source" : "target"; }
    get isCausal() { return this.causal && this.where !== "cross"; }

    isReal(key) { return !this.pads[this.keySide][key]; }
    isPast(query, key) { return key <= query; }
    mayAttend(query, key) {
      return (!this.padding || this.isReal(key))
        && (!this.isCausal || this.isPast(query, key));
    }

    get mask() {
      return this.words[this.querySide].map((_, i) =>
        this.words[this.keySide].map((_, j) => this.mayAttend(i, j)));
    }

    get code() {
      return code(this.convention, this.keySide,
        this.words[this.keySide].length, this.padding, this.isCausal);
    }

    put(name, value) { // an encoder may look ahead, as a rule
      if (name === "where") this.causal = value === "decoder";
      super.put(name, value);
    }

    update() {
      const last = (side) => this.words[side].length - 1;
      const [row, column] = this.cell;
      this.cell = [Math.min(row, last(this.querySide)),
        Math.min(column, last(this.keySide))];
      super.update();
      const causal = this.shadowRoot.querySelectorAll("[type=checkbox]")[1];
      causal.checked = this.isCausal;
      causal.disabled = this.where === "cross";
      const { mask } = this;
      const empty = mask.flatMap((row, i) => (row.includes(true) ? [] : [i]));
      this.drawGrid(mask, empty);
      this.drawSum(mask);
      this.say(mask, empty);
    }

    pick(cell, focus) {
      if (String(cell) !== String(this.cell)) this.put("cell", cell);
      if (focus) this.board.querySelector("td[tabindex='0']").focus();
    }

    token(side, place) {
      return this.pads[side][place] ? "PAD" : this.words[side][place];
    }

    drawGrid(mask, empty) {
      const keys = this.words[this.keySide];
      const walk = (event) => {
        if (event.target.tagName !== "TD") return;
        const to = move(event, this.cell, [mask.length, keys.length]);
        if (to) this.pick(to, true);
      };
      this.board.replaceChildren(h("table", { role: "grid", onkeydown: walk,
        "aria-label": "Rows ask, columns are looked at",
        class: keys.some((word) => word.length > 5) && "long" },
      h("thead", {}, h("tr", {}, h("td", { class: "corner" }),
        keys.map((_, j) => this.drawKey(j)))),
      h("tbody", {}, mask.map((row, i) =>
        h("tr", { class: empty.includes(i) && "empty" },
          h("th", { scope: "row", class: i === this.cell[0] && "at" },
            this.token(this.querySide, i)),
          row.map((isSeen, j) => this.drawCell(isSeen, i, j)))))));
    }

    /** A word above its column, to be made PAD. */
    drawKey(j) {
      const word = this.token(this.keySide, j);
      const pads = this.pads[this.keySide];
      return h("th", { scope: "col", class: j === this.cell[1] && "at" },
        button(word, () => {
          pads[j] = !pads[j];
          this.refresh();
        }, { "aria-pressed": String(pads[j]), "data-key": `key ${j}`,
          "aria-label": `${word}, position ${j}: is PAD` }));
    }

    drawCell(isSeen, i, j) {
      const { yes, no } = CONVENTIONS[this.convention];
      const isAt = String([i, j]) === String(this.cell);
      return h("td", { class: isSeen && "seen", tabindex: isAt ? 0 : -1,
        "aria-selected": String(isAt), "data-key": isAt && "at",
        onclick: () => this.pick([i, j], true),
        // A pointer that rests enters each cell that is made anew below it.
        onpointermove: (event) => {
          if (event.pointerType === "mouse") this.pick([i, j]);
        } }, isSeen ? yes : no);
    }

    /** The masks that are on, small, and the sign that joins them. */
    drawSum(mask) {
      const { joins } = CONVENTIONS[this.convention];
      const parts = [];
      if (this.padding) parts.push(["padding", (i, j) => this.isReal(j)]);
      if (this.isCausal) parts.push(["causal", this.isPast]);
      const small = ([name, sees]) => h("figure", {},
        h("div", { "--n": mask[0].length }, mask.map((row, i) =>
          row.map((_, j) => h("i", { class: sees(i, j) && "seen" })))), name);
      const sign = (text) => h("span", { class: "joins" }, text);
      const shown = parts.flatMap((part, n) =>
        (n ? [sign(joins), small(part)] : [small(part)]));
      this.sum.replaceChildren(...(parts.length
        ? [...shown, h("span", {}, sign("= "), "the large table")]
        : ["No mask: every word may attend to every word."]));
    }

    say(mask, empty) {
      const { yes, no } = CONVENTIONS[this.convention];
      const pairs = mask.flat();
      this.legend.replaceChildren(
        h("span", { class: "yes" }, `${yes}: may attend`),
        h("span", {}, `${no}: hidden`));
      this.why.textContent = this.reason(...this.cell);
      this.count.textContent = `${pairs.filter(Boolean).length} of ${
        pairs.length} pairs are allowed.`;
      const who = empty.length === 1
        ? `“${this.token(this.querySide, empty[0])}”` : `${empty.length} rows`;
      this.alarm.textContent = empty.length ? `${who} may attend to nothing. `
        + "Softmax alone makes NaN of that; the attention of this book "
        + "gives the weights 0." : "";
      this.lines.replaceChildren(...this.code.map(([line, axes]) =>
        h("code", {}, line.match(/^[^(]*\(?/), h("wbr"),
          line.replace(/^[^(]*\(?/, ""), h("span", {}, axes))));
    }

    /** Why a query may attend to a key, or not. */
    reason(query, key) {
      const called = (side, place) => (this.pads[side][place]
        ? `PAD at position ${place}` : `“${this.words[side][place]}”`);
      const isSelf = this.where !== "cross" && query === key;
      const whom = isSelf ? "itself" : called(this.keySide, key);
      const isLater = this.where !== "cross" && !this.isPast(query, key);
      const because = [
        !this.isReal(key) && "nothing stands there",
        isLater && (this.causal || this.where === "decoder")
          && "it comes later",
      ].filter(Boolean).join(", and ");
      const may = this.mayAttend(query, key);
      return `${called(this.querySide, query)} may ${may ? "" : "not "}attend `
        + `to ${whom}${because && (may ? ", although " : ": ")}${because}.`;
    }
  });
})();
