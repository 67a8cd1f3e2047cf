"use strict";
// Split and merge: where each number of a word goes, and where it would go
// with a view, which only reads the numbers in the order of the memory.
(() => {
  const { h, range, wide, Base, define } = globalThis.Explorer;
  const MOST = { length: 4, heads: 4, d_head: 2 };

  define("heads-explorer", class extends Base {
    static title = "Split and merge";
    static css = `
      .sizes { display: grid; gap: 0.2rem 1.4rem;
        grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
      .sizes label { flex-wrap: nowrap; }
      .sizes .name { flex: none; width: 3.6rem; }
      .sizes input { width: 3rem; flex: 1; }
      .way { margin: 1rem 0 0; }
      .way > p { margin: 0 0 0.3rem; }
      .way p code { font-weight: 600; }
      .way small { color: var(--muted); font-size: 0.8rem; }
      .note { min-height: 4.5em; }
      .sheets { display: flex; flex-wrap: wrap; gap: 0.5rem 1.2rem; }
      table { font-size: 0.8rem; }
      th { padding: 0 0.4rem 0 0; font-size: 0.75rem; text-align: right; }
      thead th { padding: 0; color: var(--muted); text-align: center; }
      tbody th { min-width: 3.2rem; }
      td { min-width: 1.6rem; height: 1.6rem; padding: 0 0.1rem;
        text-align: center;
        border: 1px solid var(--bg); cursor: pointer;
        background: color-mix(in srgb, var(--hue) 30%, var(--bg)); }
      .h0 { --hue: #e69f00; }
      .h1 { --hue: #56b4e9; }
      .h2 { --hue: #a6611a; }
      .h3 { --hue: #808080; }
      .first { border-left-width: 6px; }
      td.on { box-shadow: inset 0 0 0 2px var(--fg); font-weight: 700; }
      th.warn { font-weight: 600; }
      @container (max-width: 30rem) {
        legend { width: 100%; }
        .note { min-height: 7.5em; }
      }`;

    static state = { task: "split", number: 0, ...MOST };

    get fullest() {
      return ["split", "merge"].map((task) => ({ ...MOST, task, number: 18 }));
    }

    build(root) {
      this.ways = h("div");
      this.note = h("p", { class: "note", role: "status" });
      const sizes = Object.entries(MOST).map(([name, most]) =>
        this.slider(name, name, range(most, 1)));
      const number = this.slider("number", "number", () => range(this.total));
      this.follow = number.querySelector("input");
      this.follow.addEventListener("keydown", (event) => this.step(event));
      root.append(
        h("div", { class: "controls" }, this.choice("task", "task",
          { split: "split into heads", merge: "merge the heads" })),
        h("div", { class: "sizes" }, sizes, number), this.ways, this.note);
    }

    /** Up and down lead to the same column of another word. */
    step(event) {
      const words = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!words) return;
      event.preventDefault();
      const to = this.number + words * this.heads * this.d_head;
      if (to >= 0 && to < this.total) this.put("number", to);
    }

    get total() {
      return this.length * this.heads * this.d_head;
    }

    /** Whose number is it, and which of its head's? */
    owner(number) {
      const { heads, d_head } = this;
      const column = number % (heads * d_head);
      return { word: Math.floor(number / (heads * d_head)), column,
        head: Math.floor(column / d_head), entry: column % d_head };
    }

    /** The numbers of all three tensors, in the order of their axes. */
    get found() {
      const { task, length, heads, d_head } = this;
      const plate = range(this.total);
      const sheets = range(heads).flatMap((k) => range(length).flatMap((l) =>
        range(d_head).map((d) => (l * heads + k) * d_head + d)));
      const [source, right] = task === "split" ? [plate, sheets] :
        [sheets, plate];
      const wrong = source; // the same order of memory, another shape
      const misplaced = right.filter((n, at) => n !== wrong[at]).length;
      return { source, right, wrong, misplaced };
    }

    update() {
      this.number = Math.min(this.number, this.total - 1);
      super.update();
      const { task, length, heads, d_head } = this;
      const { source, right, wrong, misplaced } = this.found;
      const plate = `1, ${length}, ${heads * d_head}`;
      const sheets = `1, ${heads}, ${length}, ${d_head}`;
      const split = task === "split";
      const [before, after] = split ? [plate, sheets] : [sheets, plate];
      const name = split ? "x" : "parts";
      const call = split ? `split_heads(x, ${heads})` : "merge_heads(parts)";
      this.ways.replaceChildren(
        this.way(name, ` of shape (${before})`, source, split),
        this.way(call, ` has shape (${after})`, right, !split),
        this.way(`${name}.view(${after})`, misplaced ? " has this shape, too:" +
          ` ${misplaced} of ${this.total} numbers stand at a wrong place, in ` +
          "rows with a red name" :
          " is the same: every number stands at its place", wrong, !split));
      this.mark(this.number);
    }

    /** A tensor: one plate, or sheets, one a head. */
    way(code, text, numbers, isPlate) {
      const { length, heads, d_head } = this;
      const [many, width] = isPlate ? [1, heads * d_head] : [heads, d_head];
      const tables = range(many).map((n) => {
        const rows = range(length).map((l) => numbers.slice(
          (n * length + l) * width, (n * length + l + 1) * width));
        return this.table(rows, isPlate ? null : n);
      });
      return h("div", { class: "way" },
        h("p", {}, h("code", {}, code), h("small", {}, text)),
        h("div", { class: "sheets" }, tables));
    }

    table(rows, head) {
      const { heads, d_head } = this;
      const isPlate = head === null;
      const strips = (isPlate ? range(heads) : [head]).map((k) =>
        h("th", { colspan: d_head, scope: "colgroup" }, `head ${k}`));
      return wide(rows[0].length, "numbers", h("table", {},
        h("thead", {}, h("tr", {}, h("th"), strips)),
        h("tbody", {}, rows.map((row, l) => h("tr", {},
          this.heading(row, l, head), row.map((n, at) =>
            this.cell(n, isPlate && at > 0 && at % d_head === 0)))))));
    }

    /** Whose numbers stand in a row; in red if they should not. */
    heading(row, l, head) {
      const owners = row.map((n) => this.owner(n));
      const words = new Set(owners.map((one) => one.word));
      const isRight = owners.every((one, at) => one.word === l &&
        (head === null ? one.column === at : one.head === head));
      return h("th", { scope: "row", class: !isRight && "warn" },
        words.size > 1 ? "mixed" : this.words[owners[0].word]);
    }

    cell(number, isFirst) {
      const { head } = this.owner(number);
      return h("td", { "data-number": number,
        class: `h${head}${isFirst ? " first" : ""}`,
        onclick: () => { this.put("number", number); this.follow.focus(); },
        onpointerenter: () => this.mark(number),
        onpointerleave: () => this.mark(this.number) }, number);
    }

    /** Show where one number stands, in all three. */
    mark(number) {
      for (const td of this.ways.querySelectorAll("[data-number]")) {
        td.classList.toggle("on", Number(td.dataset.number) === number);
      }
      this.note.textContent = this.told(number);
    }

    told(number) {
      const { heads, length, d_head, task } = this;
      const { word, column, head, entry } = this.owner(number);
      const { right, wrong } = this.found;
      const split = task === "split";
      const said = (l) => `“${this.words[l]}”`;
      const whose = `${number} belongs to ${said(word)}: column ${column}, ` +
        `so entry ${entry} of head ${head}.`;
      const at = wrong.indexOf(number);
      if (right[at] === number) return `${whose} The view puts it there, too.`;
      const width = split ? d_head : heads * d_head;
      const row = Math.floor(at / width) % length;
      const block = Math.floor(at / (width * length));
      const there = split ? `head ${block}, row ${row}, entry ${at % width}` :
        `row ${row}, column ${at % width}`;
      return `${whose} The view puts it at ${there}` + (row === word ? "." :
        `, where ${said(row)} should stand.`);
    }
  });
})();
