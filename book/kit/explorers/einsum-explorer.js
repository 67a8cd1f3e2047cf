"use strict";
// Which numbers an einsum multiplies and sums for one cell of its result.
(() => {
  const { h, move, range, total, wide, Base, define } = globalThis.Explorer;
  const PATTERNS = {
    "id,jd->ij": "scores of words",
    "ij,jk->ik": "matrix product",
    "ij,jd->id": "weighted sums",
    "i,i->": "dot product",
    "i,j->ij": "all products",
    "ij->ji": "transpose",
    "ij->i": "sum of each row",
    "ii->": "trace",
    "nhid,nhjd->nhij": "scores in heads",
    "nihd,njhd->nijh": "scores, heads last",
  };
  // Which axes run down and which run across, for 0 to 4 axes.
  const LAYOUT = [[[], []], [[], [0]], [[0], [1]], [[1], [0, 2]],
    [[0, 2], [1, 3]]];
  const SHOWN = 16; // terms of a sum

  const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
  const flat = (place, sizes) =>
    place.reduce((at, n, axis) => at * sizes[axis] + n, 0);
  const places = (sizes) => sizes.reduce((all, size) =>
    all.flatMap((place) => range(size).map((n) => [...place, n])), [[]]);
  const named = (name, place) =>
    place.length ? `${name}[${[...place].join(", ")}]` : name;
  const and = (words) => new Intl.ListFormat("en-GB").format(words);
  /** Is this the first cell of a block, though not of the first block? */
  const begins = (place, axes) => axes.length > 1 && place[axes[0]] > 0 &&
    place[axes[1]] === 0;

  const problem = (equation) => {
    if (!/^[a-z]*(,[a-z]*)*->[a-z]*$/.test(equation)) {
      return "A small letter for each axis, a comma between factors, and -> before " +
        "the result, as in ij,jk->ik.";
    }
    const [left, right] = equation.split("->");
    const parts = [...left.split(","), right];
    const unknown = [...right].find((a) => !left.includes(a));
    const twice = [...right].find((a, n) => right.indexOf(a) < n);
    if (unknown) return `No factor has the letter ${unknown}.`;
    if (twice) return `The letter ${twice} stands twice on the right.`;
    const isLong = parts.length > 4 || new Set(left).size > 7 ||
      parts.some((letters) => letters.length > 4);
    return isLong ? "At most three factors, four axes and six letters." : "";
  };

  /** Digits that look drawn at random: those of `digits` in einsum.py. */
  const digits = (which, length) => {
    let state = 9 + 8 * which;
    return range(length).map(() => (state = (state * 29) % 101) % 10);
  };

  define("einsum-explorer", class extends Base {
    static title = "Index tracer";
    static css = `
      input[type=text] { width: 12rem; font-family: var(--code); }
      .warn, .rule { margin: 0; }
      .warn:not(:empty) { margin-bottom: 0.4rem; }
      .tensors { display: flex; flex-wrap: wrap; gap: 0.9rem 1.3rem;
        align-items: flex-start; margin: 0.8rem 0; max-height: 21rem;
        font-size: 0.8rem; }
      .tensors, .sum, pre { overflow: auto; }
      caption { padding: 0 0.2rem 0.2rem; }
      caption code, .sum > code { color: var(--fg); font-weight: 600; }
      caption code { font-size: 0.85rem; white-space: nowrap; }
      th { padding: 0 0.3rem 0 0.1rem; color: var(--muted); text-align: center;
        font-size: 0.75rem; white-space: nowrap; }
      td { padding: 1px; }
      td span { display: grid; place-items: center; min-width: 1.5rem;
        height: 1.6rem; border-radius: 4px;
        background: var(--panel); }
      .across { padding-left: 0.7rem; }
      .down > * { padding-top: 0.7rem; }
      .hit span { background: var(--hi-soft); font-weight: 700;
        box-shadow: inset 0 0 0 1.5px var(--hi); }
      .now span, [aria-selected=true] span { background: var(--hi);
        color: var(--bg); font-weight: 700; }
      [role=gridcell] { cursor: pointer; }
      [role=gridcell]:hover span { box-shadow: inset 0 0 0 1.5px var(--edge); }
      .sum { display: flex; flex-wrap: wrap; gap: 0.35rem 0.5rem;
        align-items: center; max-height: 7rem; }
      .term { display: flex; gap: 0.5rem; align-items: center; }
      .term button { display: grid; padding: 0.1rem 0.5rem; line-height: 1.4; }
      .term code { color: var(--muted); font-size: 0.75rem; }
      .number { font-weight: 600; }
      pre { max-height: 9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
      pre i { color: var(--muted); font-style: normal; }
      @container (max-width: 30rem) { /* two terms, one line of the loops */
        td { padding: 1px 0.5px; }
        .across { padding-left: 0.5rem; }
        .sum { max-height: 9rem; column-gap: 0.35rem; }
        .term { gap: 0.35rem; }
        .term button { padding-inline: 0.25rem; }
        .term code { word-spacing: -0.3em; }
        pre { padding-inline: 0.5rem; font-size: 0.75rem;
          word-spacing: -0.25em; }
      }`;

    static state = { equation: "", cell: [], term: null };

    build(root) {
      this.typed = h("input", { type: "text", spellcheck: "false",
        autocapitalize: "off", autocomplete: "off", "aria-describedby": "wrong",
        oninput: () => this.write(this.typed.value.replace(/\s/g, "")) });
      this.wrong = h("p", { class: "warn", id: "wrong", role: "status" });
      this.redraws.push(() => {
        this.wrong.textContent = "";
        this.typed.removeAttribute("aria-invalid");
        if (this.shadowRoot.activeElement === this.typed) return;
        this.typed.value = this.equation;
      });
      this.tensors = h("div", { class: "tensors" });
      this.sum = h("div", { class: "sum", role: "group",
        "aria-label": "the sum, term by term" });
      this.said = h("p", { class: "visually-hidden", role: "status" });
      root.append(
        h("div", { class: "controls" },
          this.select("pattern", "pattern", { ...PATTERNS, "": "your own" }),
          h("label", {}, h("span", { class: "name" }, "equation"),
            this.typed)),
        this.wrong,
        this.part("p", { class: "rule" }, () => this.rule(this.parts)),
        this.tensors, this.sum, this.said,
        this.part("pre", {}, () => this.loop(this.parts)));
    }

    get fullest() {
      return ["nhid,nhjd->nhij", "ij,lk->ik"].map((equation) => ({ equation }));
    }

    get pattern() {
      return this.equation in PATTERNS ? this.equation : "";
    }

    set pattern(equation) {
      if (equation) this.begin(equation);
      else this.typed.focus();
    }

    /** An equation that is being typed. */
    write(equation) {
      const wrong = problem(equation);
      if (!wrong) {
        this.begin(equation);
        this.update();
        return;
      }
      const words = `${wrong} Still shown: ${this.equation}.`;
      if (this.wrong.textContent !== words) {
        this.wrong.textContent = words;
        this.typed.setAttribute("aria-invalid", "true");
      }
    }

    begin(equation) {
      Object.assign(this, { equation, cell: [], term: null });
    }

    /** The factors, the result, and what is multiplied for each cell. */
    read() {
      const [left, right] = this.equation.split("->");
      const size = (a) => this.sizes[a] ?? 2;
      const tensor = (name, letters) =>
        ({ name, letters, sizes: [...letters].map(size) });
      const factors = left.split(",").map((letters, n) => {
        const made = tensor("ABC"[n], letters);
        made.numbers = digits(n, product(made.sizes));
        return made;
      });
      const letters = [...new Set(right + left.replaceAll(",", ""))];
      const summed = letters.slice(right.length);
      const terms = (cell) => places(summed.map(size)).map((along) => {
        const at = Object.fromEntries([...cell, ...along].map((n, k) =>
          [letters[k], n]));
        const where = factors.map((f) => [...f.letters].map((a) => at[a]));
        const numbers = factors.map((f, n) =>
          f.numbers[flat(where[n], f.sizes)]);
        return { at, where, numbers };
      });
      const out = tensor("out", right);
      out.numbers = places(out.sizes).map((cell) =>
        total(terms(cell).map((term) => product(term.numbers))));
      const cell = out.sizes.map((n, k) => Math.min(n - 1, this.cell[k] ?? 0));
      return { size, letters, summed, factors, out, cell, terms: terms(cell) };
    }

    update() {
      this.parts = this.read();
      this.cell = this.parts.cell;
      this.draw(this.parts);
      this.add(this.parts);
      this.mark(this.parts, this.term);
      super.update();
    }

    /** In words, what becomes of each letter. */
    rule({ out, summed, terms }) {
      const is = (letters, one, more) =>
        `${and([...letters])} ${letters.length > 1 ? more : one}`;
      return (out.letters ?
        `${is(out.letters, "stands", "stand")} on the right: a cell of out ` +
        `for each ${and([...out.letters])}. ` :
        "Nothing stands on the right: out is one number. ") + (summed.length ?
        `${is(summed, "is", "are")} missing there: a sum over ` +
        `${and(summed)}, of ${terms.length} terms.` :
        "No letter is missing there: nothing is summed.");
    }

    draw({ factors, out }) {
      this.cells = factors.map(() => []);
      this.grid = this.table(out);
      this.tensors.replaceChildren(...factors.map((f, n) =>
        this.table(f, this.cells[n])), this.grid);
    }

    /** A tensor as a table; of `out`, a cell can be picked. */
    table({ name, letters, sizes, numbers }, cells) {
      const [down, across] = LAYOUT[letters.length];
      const along = (axes) => places(axes.map((axis) => sizes[axis]));
      const columns = along(across);
      const grid = along(down).map((row) => columns.map((column) => {
        const place = [];
        down.forEach((axis, n) => { place[axis] = row[n]; });
        across.forEach((axis, n) => { place[axis] = column[n]; });
        return place;
      }));
      const cell = (place) => {
        const at = flat(place, sizes);
        const td = h("td", cells ? {} : this.pickable(place),
          h("span", {}, numbers[at]));
        if (cells) cells[at] = td;
        td.classList.toggle("across", begins(place, across));
        return td;
      };
      const side = (place) => down.map((axis, n) => n === down.length - 1 ?
        h("th", { scope: "row" }, place[axis]) : place[down[1]] ? null :
          h("th", { scope: "rowgroup", rowspan: sizes[down[1]] },
            `${letters[axis]}=${place[axis]}`));
      const title = named(name, letters);
      // The grid has a stop of its own for the keyboard.
      return wide(cells ? columns.length : 0, title,
        h("table", cells ? {} : { role: "grid",
          "aria-label": `${title}: pick a cell`,
          onkeydown: (event) => this.walk(event, grid) },
        h("caption", {}, h("code", {}, title), ` ${sizes.join("\u00a0×\u00a0")}`),
        h("thead", {}, this.head(letters, sizes, grid[0])),
        h("tbody", {}, grid.map((row) => h("tr", { class:
          begins(row[0], down) && "down" }, side(row[0]), row.map(cell))))));
    }

    head(letters, sizes, places) {
      const [down, across] = LAYOUT[letters.length];
      return across.map((axis, n) => {
        const isLast = n === across.length - 1;
        const many = isLast ? 1 : sizes[across[1]];
        const corner = isLast &&
          `${letters[down.at(-1)]} ↓ ${letters[axis]} →`;
        return h("tr", {}, down.length ?
          h("th", { colspan: down.length }, corner || "") : null,
        places.filter((_, k) => k % many === 0).map((place) =>
          h("th", { scope: isLast ? "col" : "colgroup", colspan: many,
            class: isLast && begins(place, across) && "across" },
          isLast ? place[axis] : `${letters[axis]}=${place[axis]}`)));
      });
    }

    walk(event, grid) {
      const is = (place) => String(place) === String(this.cell);
      const row = grid.findIndex((places) => places.some(is));
      const to = move(event, [row, grid[row].findIndex(is)],
        [grid.length, grid[0].length]);
      if (to) this.pick(grid[to[0]][to[1]]);
    }

    pick(cell) {
      this.term = null;
      this.put("cell", cell);
      this.grid.querySelector("[tabindex='0']").focus();
    }

    pickable(place) {
      const chosen = String(place) === String(this.cell);
      return { role: "gridcell", tabindex: chosen ? 0 : -1,
        "aria-selected": String(chosen), onclick: () => this.pick(place) };
    }

    /** The sum, written out: each term a button that shows its factors. */
    add(parts) {
      const { factors, out, cell, terms } = parts;
      const name = named("out", cell);
      const sum = out.numbers[flat(cell, out.sizes)];
      const buttons = terms.slice(0, SHOWN).map(({ where, numbers }, n) =>
        h("span", { class: "term" }, n ? "+" : null, h("button", {
          type: "button", "data-key": n,
          "aria-pressed": String(n === this.term),
          onclick: () => this.put("term", n === this.term ? null : n),
          onpointerenter: () => this.mark(parts, n),
          onpointerleave: () => this.mark(parts, this.term) },
        h("code", {}, factors.map((f, k) => named(f.name, where[k]))
          .join(" · ")),
        h("span", { class: "number" }, numbers.join(" · ")))));
      const more = terms.length - SHOWN;
      this.sum.replaceChildren(h("code", {}, `${name} =`), ...buttons,
        more > 0 ? `+ ${more} more` : "",
        h("span", { class: "number" }, `= ${sum}`));
      this.said.textContent = `${name} = ${sum}, terms: ${terms.length}`;
    }

    /** Show in the factors what the cell is made of; one term strongly. */
    mark({ factors, terms }, chosen) {
      this.cells.flat().forEach((td) => td.classList.remove("hit", "now"));
      terms.forEach(({ where }, n) => factors.forEach((f, k) => {
        const td = this.cells[k][flat(where[k], f.sizes)];
        td.classList.add("hit");
        if (n === chosen) td.classList.add("now");
      }));
    }

    /** The same as loops; beside each, where it stands. */
    loop({ letters, summed, size, factors, out, terms }) {
      const lines = letters.flatMap((a, depth) => {
        const isSum = summed.includes(a);
        const at = terms[this.term ?? 0].at[a];
        const text = `${"  ".repeat(depth)}for ${a} in range(${size(a)}):`;
        return [isSum ? h("b", {}, text) : text, h("i", {}, "  # " +
          (isSum && this.term === null ? "all\n" : `${a} = ${at}\n`))];
      });
      return [lines, "  ".repeat(letters.length) +
        `${named("out", out.letters)} += ` +
        factors.map((f) => named(f.name, f.letters)).join(" * ")];
    }
  });
})();
