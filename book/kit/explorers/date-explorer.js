"use strict";
(() => {
  const { h, button, fixed, mean, move, range, Base, define } =
    globalThis.Explorer;
  const Parts = globalThis.DateParts;
  const VIEWS = { cross: "decoder, across to the text",
    self: "decoder, to what it has written", encoder: "encoder" };
  const CAPTIONS = {
    cross: "Each row is a token it writes: where it looks in the text",
    self: "Each row is a token that is written: where it looks in what is " +
      "written already (⊢: the beginning; hatched: hidden by the mask)",
    encoder: "Each row is a character of the text: where it looks",
  };
  const SWITCHES = { positions: "positions", scale: "scale 1/√d_head",
    causal: "causal mask", padding: "padding mask" };
  const PARTS = { "encoder.blocks.0.attention": "encoder",
    "decoder.blocks.0.self_attention": "decoder, self",
    "decoder.blocks.0.cross_attention": "decoder, cross" };
  const BOOK = "the book’s weights";
  const PAUSE = 150; // ms between two characters, so that eyes can follow
  const LOADING = "Loading the model …";
  const RIGHT = { kind: "", lead: "", sentence: "The text says this date." };

  define("date-explorer", class extends Base {
    static title = "A trained Transformer writes dates";
    static css = `${Parts.css}
      fieldset { gap: 0.2rem 0.75rem; }
      form input { flex-basis: 13rem; }
      .learnt { margin: 0.4rem 0 0.9rem; font-size: 0.85rem; }
      .answer { display: grid; }
      .answer > * { grid-area: 1 / 1; }
      .answer > p { align-self: start; margin: 0.5rem 0 0; }
      .verdict { min-height: 4.5em; margin: 0 0 0.4rem; }
      .doubtful .tile { border-style: dashed; border-color: var(--warn); }
      .stale { visibility: hidden; }
      .chips { display: flex; flex-wrap: wrap; gap: 0.3rem;
        margin: 0.5rem 0 0.9rem; }
      .side { display: grid; gap: 0.8rem 1.6rem; align-items: start; }
      .heads { gap: 0.2rem 0.8rem; }
      .heads legend { width: 100%; }
      @container (min-width: 30rem) { .heads legend { width: 11rem; } }
      input[type="file"] { max-width: 100%; }
      details { margin-top: 0.6rem; padding-top: 0.4rem;
        border-top: 1px solid var(--rule); }
      [inert] { opacity: 0.6; }
      .rows { height: 20rem; overflow: auto; }
      .found { height: 9rem; overflow: auto; }
      @container (max-width: 38rem) { .note { min-height: 4.5em; } }
      summary { min-height: 1.75rem; cursor: pointer; font-weight: 600; }
      .beams td, .beams th { padding: 0.1rem 0.6rem 0.1rem 0;
        text-align: right; }
      .beams :is(td, th):first-child { text-align: left; }
      .frame.drop { outline: 2px dashed var(--hi); outline-offset: 2px; }
      @container (min-width: 38rem) {
        .verdict { min-height: 3em; }
        .side { grid-template-columns: minmax(0, 1fr) 12rem; }
      }`;

    static state = { text: "", view: "cross", head: "mean", step: 6, row: 0,
      width: 1, picked: 0, pads: 0, silent: [], positions: true, scale: true,
      causal: true, padding: true };

    build(root) {
      Object.assign(this, { live: null, unknown: [], changes: "",
        weights: BOOK, shown: Infinity });
      this.text = this.examples[0].text;
      this.run();
      this.tiles = h("div");
      this.look = h("div", { class: this.compact ? "scroll" : "scroll rows",
        tabindex: 0, role: "group",
        "aria-label": "Attention weights" });
      this.side = h("div", { class: "side" }, this.look, h("div", {},
        h("div", { class: "name" }, "likeliest tokens here"),
        this.part("div", {}, () => Parts.tops(this.result.tops[this.step]))));
      this.instead = h("p", { class: "problem", role: "status" });
      this.verdict = h("p", { class: "verdict", role: "status" });
      this.drawn = h("div", { onkeydown: (event) => this.key(event) },
        h("div", { class: "answer" }, this.tiles, this.instead),
        this.verdict, this.side);
      this.note = h("p", { class: "note", "aria-live": "polite" });
      const said = [this.drawn, this.note];
      const learnt = h("p", { class: "learnt name" }, this.learnt);
      root.append(...(this.compact
        ? [this.choosing(), this.asking(), learnt, ...said]
        : [this.asking(), learnt, this.choosing(), this.viewing(),
          ...said, this.panels(root)].flat()));
    }

    get value() { return { ...super.value, weights: this.weights }; }

    set value(given) {
      if (given.weights === BOOK) this.own(null);
      this.field.value = given.text ?? this.text;
      this.stop();
      super.value = given;
    }

    /** What is stored of the examples: enough until the model is here. */
    remember() {
      const found = this.examples.find(({ text }) => text === this.text);
      this.problem = this.failed || (found ? "" : this.loading ? LOADING
        : "Load the model to ask for this text.");
      if (!found) return;
      const share = (value) =>
        Array.isArray(value) ? value.map(share) : value / 1000;
      this.result = { chars: [...found.text], tokens: found.tokens,
        tops: found.tops.map((row) => row.map(([t, p]) => [t, p / 1000])),
        cross: share(found.cross[0]), beams: [] };
    }

    /** Ask what is here, if something else is to be asked. */
    run() {
      if (!this.live) return this.remember();
      this.picked = Math.min(this.picked, this.width - 1);
      const { text, pads, width, picked } = this;
      const names = [...Object.keys(SWITCHES), "silent"];
      const change = Object.fromEntries(names.map((n) => [n, this[n]]));
      const question = JSON.stringify([text, pads, width, picked, change]);
      if (question === this.question) return;
      this.question = question;
      this.stop();
      const { plain, changes } = this.rule.plain(text);
      const asked = this.live.read(plain, pads);
      const { unknown, problem } = asked;
      Object.assign(this, { unknown, problem, changes });
      if (problem) return;
      this.result = this.live.ask(asked, { change, width, picked });
    }

    async ask() {
      if (this.live) return this.write();
      this.stop();
      const isFirst = !this.loading; // else it asks for what stands there
      this.loading = true;           // when the model has come
      this.update();
      if (!isFirst) return;
      try {
        this.book = this.live = await globalThis.LiveDates.load(
          { beamSearch: "beam-search.js", DateRule: "date-rule.js" });
        this.rule = new globalThis.DateRule(this.kinds);
      } catch (error) {
        this.failed = error.message;
      }
      this.loading = false;
      if (this.live) this.write();
      else this.update();
    }

    stop() {
      clearTimeout(this.timer);
      this.shown = Infinity;
      this.failed = "";
    }

    /** Write so that the eye can follow. */
    write() {
      this.stop();
      this.run();
      if (!this.problem) this.step = this.last();
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (still || this.problem) return this.update();
      this.note.textContent = this.verdict.textContent = "";
      this.shown = 1;
      this.update();
      this.play(1);
    }

    /** Without the end. */
    written() {
      return this.result.tokens.filter((t) => t !== "<eos>").join("");
    }

    /** What was read, without PAD. */
    read() {
      return this.result.chars.filter((c) => c !== "<pad>").join("");
    }

    judged() {
      if (!this.rule) return RIGHT; // `make weights` stores no other example
      return this.rule.judge({ text: this.read(), written: this.written(),
        sure: this.result.sure, unknown: this.unknown });
    }

    /** The last step that is not the end. */
    last() {
      const { tokens } = this.result;
      const ended = tokens.length > 1 && tokens.at(-1) === "<eos>";
      return tokens.length - (ended ? 2 : 1);
    }

    play(shown) {
      this.shown = shown;
      this.step = Math.min(shown - 1, this.last());
      if (shown > this.result.tokens.length) this.shown = Infinity;
      else this.timer = setTimeout(() => this.play(shown + 1), PAUSE);
      this.refresh();
    }

    asking() {
      const { form, field, send, offer } = globalThis.LiveDates.form(
        this.kilobytes, (text) => {
          this.text = text;
          this.ask();
        });
      field.value = this.text;
      this.field = field; // it is a reader's own: no redrawing writes there
      field.oninput = () => this.verdict.classList.toggle("stale",
        field.value !== this.text);
      this.redraws.push(() => {
        send.setAttribute("aria-disabled", String(Boolean(this.loading)));
        send.textContent = this.loading ? "Loading …"
          : this.live ? "Write" : offer;
      });
      return form;
    }

    choosing() {
      return h("div", { class: "chips", role: "group",
        "aria-label": "Examples" }, this.examples.map((example) => {
        const { text, language } = example;
        const chip = button(this.compact ? text : language, () => {
          this.text = this.field.value = text;
          this.write();
        });
        this.redraws.push(() => chip.setAttribute("aria-pressed",
          String(this.text === text)));
        return chip;
      }));
    }

    viewing() {
      const view = this.select("view", "attention", VIEWS);
      this.redraws.push(() => { view.inert = !this.live; });
      const heads = this.result.cross.map((_, n) => [`head ${n}`, `${n}`]);
      return h("div", { class: "controls" }, view,
        this.choice("head", "head",
          { mean: "mean", ...Object.fromEntries(heads) }));
    }

    panels(root) {
      const made = [this.removing(), this.searching(), this.replacing(root)]
        .map(([title, ...inside]) =>
          h("details", {}, h("summary", {}, title), inside));
      const more = h("p", { class: "name" }, "With the model in the page you " +
        "can also see the other attentions, take parts away, search with " +
        "beams, and try weights of your own.");
      this.redraws.push(() => {
        for (const panel of made) panel.inert = !this.live;
      });
      return [more, ...made];
    }

    removing() {
      const switches = Object.entries(SWITCHES)
        .map(([name, words]) => this.toggle(name, words));
      return ["Take something away",
        h("div", { class: "controls" }, switches,
          this.slider("pads", "PAD (∅) behind the text", range(31))),
        Object.entries(PARTS).map(([name, words]) =>
          this.heads(name, words))];
    }

    heads(name, words) {
      return h("fieldset", { class: "heads" },
        h("legend", {}, `heads: ${words}`),
        this.result.cross.map((_, n) => {
          const head = `${name}.${n}`;
          const box = h("input", { type: "checkbox", onchange: () => {
            const others = this.silent.filter((one) => one !== head);
            this.put("silent", box.checked ? others : [...others, head]);
          } });
          this.redraws.push(() => {
            box.checked = !this.silent.includes(head);
          });
          return h("label", {}, box, `${n}`);
        }));
    }

    searching() {
      const header = ["text", "log p", "score"].map((name) =>
        h("th", { scope: "col" }, name));
      const row = (beam, n) => h("tr", {},
        h("td", {}, button(
          h("code", {}, this.live.text(beam.ids) || "nothing"),
          () => this.put("picked", n), { "data-key": `beam ${n}`,
            "aria-pressed": String(n === this.picked) })),
        h("td", {}, fixed(beam.logP, 3)), h("td", {}, fixed(beam.score, 3)));
      const list = this.part("div", { class: "found" }, () =>
        this.result.beams.length
          ? h("table", { class: "beams" }, h("tr", {}, header),
            this.result.beams.map(row)) : "");
      return ["Greedy or beam search",
        this.slider("width", "beams", range(8, 1),
          (n) => (n === 1 ? "1, greedy" : `${n}`)), list];
    }

    replacing(root) {
      const read = async (file) => {
        try {
          this.own(this.book.withFile(await file.arrayBuffer()), file.name);
        } catch (error) {
          this.update();
          this.note.textContent = error.message;
          return this.note.classList.add("warn");
        }
        this.write();
      };
      const input = h("input", { type: "file", accept: ".safetensors",
        onchange: () => input.files.length && read(input.files[0]) });
      const back = button("Back to the book's", () => {
        this.own(null);
        this.update();
      });
      this.redraws.push(() => { back.hidden = this.weights === BOOK; });
      const over = (event) => {
        if (!this.live) return;
        event.preventDefault();
        root.classList.toggle("drop", event.type === "dragover");
        if (event.type === "drop") read(event.dataTransfer.files[0]);
      };
      for (const type of ["dragover", "dragleave", "drop"]) {
        root.addEventListener(type, over);
      }
      return ["Weights of your own", h("p", {}, "A file from chapter 11: " +
        "what save_checkpoint wrote, or the state dict of a model of the " +
        "same shape. It stays on your computer."),
      h("div", { class: "controls" }, h("label", {}, "file", input), back),
      this.part("p", { class: "number" },
        () => `It writes with ${this.weights}.`)];
    }

    own(live, name = BOOK) {
      this.live = live ?? this.book ?? null;
      this.question = "";
      this.weights = name;
    }

    /** The rows of the view, who asks, and who is asked. */
    seen() {
      const { chars, tokens } = this.result;
      const heads = this.result[this.view];
      const all = this.head === "mean" ? mean(heads)
        : heads[Number(this.head.slice(5))];
      const texts = this.view === "encoder" ? chars : tokens;
      const keys = this.view === "self" ? ["<bos>", ...tokens.slice(0, -1)]
        : chars;
      const caption = this.compact ? "where it looks in the text"
        : CAPTIONS[this.view];
      return { rows: all, asks: texts, keys, caption,
        row: this.view === "encoder" ? this.row : this.step };
    }

    unseen(i, j) {
      if (this.view === "self") return this.causal && j > i;
      return this.padding && this.result.chars[j] === "<pad>";
    }

    choose(i) {
      this.put(this.view === "encoder" ? "row" : "step", i);
    }

    key(event) {
      if (!event.target.matches(".tile, .scroll")) return;
      const on = event.target === this.look, seen = this.seen();
      const place = on ? [seen.row, 0] : [0, this.step];
      const size = on ? [seen.rows.length, 1] : [1, this.result.tokens.length];
      const to = move(event, place, size);
      if (!to) return;
      if (on) this.choose(to[0]);
      else this.put("step", to[1]);
      if (!on) this.tiles.querySelector(".tile[tabindex='0']").focus();
    }

    draw() {
      const { tokens, atOnce } = this.result, { step, shown } = this;
      const row = { chosen: step, shown, choose: (t) => this.put("step", t) };
      const rows = [Parts.tiles(tokens, row)];
      if (!this.causal && atOnce) {
        const name = "all rows at once, each seeing what comes after it";
        rows.push(Parts.tiles(atOnce, { ...row, name, wanted: tokens }));
      }
      this.tiles.replaceChildren(...rows);
      this.look.replaceChildren(Parts.look({ ...this.seen(),
        only: this.compact, shown: this.view === "encoder" ? Infinity : shown,
        unseen: (i, j) => this.unseen(i, j),
        choose: (i) => this.choose(i) }));
    }

    update() {
      this.run();
      this.step = Math.min(this.step, this.result.tokens.length - 1);
      this.row = Math.min(this.row, this.result.chars.length - 1);
      if (!this.result[this.view]) this.view = "cross";
      super.update();
      this.draw();
      const isStale = Boolean(this.problem);
      this.tiles.classList.toggle("stale", isStale);
      this.side.classList.toggle("stale", isStale);
      this.instead.textContent = this.problem;
      this.instead.classList.toggle("warn", this.problem !== LOADING);
      if (this.shown === Infinity) this.tell(this.seen());
    }

    /** The answer and the doubt in it, for eye and ear. */
    judge() {
      const { kind, lead, sentence } = this.judged();
      this.verdict.replaceChildren(
        h("span", { class: "visually-hidden" }, `${this.written()}. `),
        kind ? h("strong", { class: "warn" }, `⚠ ${lead}: `) : "✓ ", sentence,
        this.changes ? ` Read as “${this.read()}”, ${this.changes}.` : "");
      this.tiles.classList.toggle("doubtful", kind !== "");
      this.field.oninput();
    }

    tell({ rows, keys, row }) {
      this.note.classList.remove("warn");
      if (this.problem) {
        this.note.textContent = this.verdict.textContent = "";
        return;
      }
      this.judge();
      const { chars, tokens } = this.result;
      const most = Parts.most(rows[row], keys);
      const where = most ? `it looks most at ${most}.`
        : "it looks everywhere a little.";
      const after = tokens.slice(0, this.step).join("") || "nothing";
      const what = this.view === "encoder" ? `At ${Parts.sign(chars[row])}, `
        : `Writing ${Parts.sign(tokens[row])} after ${after}, `;
      this.note.textContent = what + where;
    }
  });
})();
