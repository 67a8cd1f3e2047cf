"use strict";
// A Transformer that trains in the page and is taken apart: one run, or two
// from one seed. With a `question` it is a button, a picture and the result.
(() => {
  const { h, s, axes, button, linear, range, swatch, total, wide, Base,
    define } = globalThis.Explorer;
  const { CHOICES, DEFAULTS, TASKS, Trainer, partsOf, settings, taskOf } =
    globalThis.Trainer;
  const here = document.currentScript?.src; // none in a notebook
  const HASH = "#lab?";
  const MORE = 300; // steps, for what has finished
  const SLOW = 400; // milliseconds between two steps
  const SLICE = 12; // of a frame, where the page itself trains
  const WORDS = { attention: "attention", choice: "choice of where to look",
    positions: "positions", feed_forward: "feed-forward network",
    residual: "residual connection", norm: "norm", scale: "division by √d",
    causal: "causal mask" };
  const STATES = { there: "there", taken: "taken out",
    never: "never there" };
  // What it means not to have a part, where its name does not say so.
  const ELSE = { attention: "else each place is alone",
    choice: "else all weights are equal", causal: "else it looks ahead" };
  const TASK_WORDS = { sort: "sort", reverse: "reverse", copy: "copy",
    lookup: "look up", brackets: "count brackets",
    table: "a table of your own" };
  // What can differ between two runs, in the order of the page.
  const OWN = { layers: "blocks", heads: "heads in each block",
    norm: "norm before or after", rate: "highest learning rate",
    warm_up: "warm-up steps" };
  const sizes = (all) =>
    Object.fromEntries(Object.keys(OWN).map((name) => [name, all[name]]));
  const SUMS = range(100).map((n) => {
    const [a, b] = [Math.floor(n / 10), n % 10];
    return `${a}+${b} → ${String(a + b).padStart(2, "0")}`;
  }).join("\n");
  const KINDS = ["first", "second"];
  const CALM = matchMedia("(prefers-reduced-motion: reduce)");
  const word = (part) => WORDS[part]
    ?? `block ${part.replace(".", ", head ")}`;
  const isNew = (last) => !last?.step && !last?.loaded;
  const percent = ({ right, of }) => `${(100 * right / of).toFixed(1)}%`;

  /** A Trainer in a Worker, or on the page: a function that takes orders. */
  function trainer(report) {
    const onPage = () => {
      const own = new Trainer(report, SLICE);
      return (order) => own.take(order);
    };
    if (!here) return onPage();
    try {
      const worker = new Worker(new URL("trainer.js", here));
      let send = (order) => worker.postMessage(order), sent = [];
      worker.addEventListener("message", ({ data }) => {
        sent = null;
        report(data);
      });
      worker.addEventListener("error", () => { // it could not be loaded
        if (!sent) return;
        send = onPage();
        sent.forEach(send);
        sent = null;
      });
      return (order) => {
        sent?.push(order);
        send(order);
      };
    } catch { // a page that was opened as a file
      return onPage();
    }
  }

  /** Settings as an address has them, and back. */
  function toHash({ first, second, two }) {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(first)) {
      if (String(value) !== String(DEFAULTS[name])) text.set(name, value);
    }
    if (two) text.set("two", "yes");
    for (const [name, value] of Object.entries(two ? second : {})) {
      const usual = OWN[name] ? first[name] ?? DEFAULTS[name] : "";
      if (String(value) !== String(usual)) text.set(`second.${name}`, value);
    }
    return String(text) && HASH + text;
  }

  function fromHash(hash) {
    const found = { first: { ...DEFAULTS }, second: { never: [], taken: [] },
      two: false };
    for (const [key, text] of new URLSearchParams(hash.slice(HASH.length))) {
      const [, side, name] = key.match(/^(second\.)?(.*)$/);
      if (`${key}=${text}` === "two=yes") found.two = true;
      else {
        if (side && !(name in found.second || OWN[name])) {
          throw new Error(`${key}: both runs have the same.`);
        }
        found.two ||= Boolean(side);
        const usual = DEFAULTS[name];
        found[side ? "second" : "first"][name] = Array.isArray(usual)
          ? text.split(",").filter(Boolean)
          : typeof usual === "number" ? Number(text) : text;
      }
    }
    if (found.two) found.second = { ...sizes(found.first), ...found.second };
    return found;
  }

  define("lab-explorer", class extends Base {
    static title = "The lab";
    static css = `
      .go { border-color: var(--hi); background: var(--hi); color: var(--bg);
        font-weight: 600; min-width: 8.5rem; }
      .go:hover { background: color-mix(in srgb, var(--hi) 85%, var(--fg)); }
      input[type="number"] { width: 5.5rem; }
      textarea { width: 100%; height: 9rem; font: 0.8rem/1.5 var(--code);
        border: 1px solid var(--edge); border-radius: 6px;
        background: var(--bg); color: var(--fg); }
      .parts { width: 100%; max-width: 34rem; margin-bottom: 0.6rem; }
      .parts th, .parts td { padding: 0.15rem 0.6rem 0.15rem 0; }
      .parts thead th { color: var(--muted); }
      .parts small { display: block; color: var(--muted); font-size: 0.8rem;
        line-height: 1.2; }
      .parts select { width: 100%; max-width: 11rem; }
      @container (max-width: 30rem) {
        .result { min-height: 5.7em; }
        .parts th, .parts td { padding-right: 0.3rem; }
        .parts { table-layout: fixed; }
        .parts th { font-size: 0.8rem; }
        .parts select { padding-inline: 0; font-size: 0.8rem; }
      }
      .parts select.less { border-color: var(--warn); color: var(--warn); }
      summary { cursor: pointer; padding: 0.2rem 0; color: var(--muted); }
      .runs { display: grid; gap: 0.6rem 2rem; margin: 0.4rem 0 0; }
      .runs:has(> :nth-child(2)) { grid-template-columns:
        repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
      .runs > * { min-width: 0; }
      .runs :is(h2, h3) { margin: 0; font-size: 0.9rem; font-weight: 600; }
      .result { min-height: 3.6em; margin: 0; color: var(--muted);
        font-variant-numeric: tabular-nums; }
      .runs:has(> :nth-child(2)) .result { min-height: 5.7em; }
      .result b { color: var(--fg); font-size: 1.35rem; font-weight: 600; }
      .row { border-spacing: 2px; border-collapse: separate; }
      .row caption, .heads figcaption { font-size: 0.8rem; }
      .row th { padding: 0 0.4rem 0 0; color: var(--muted); }
      .row td { min-width: 1.65rem; height: 1.65rem; padding: 0 1px;
        border-radius: 4px; background: var(--panel); text-align: center; }
      .row td.wrong { color: var(--warn); text-decoration: underline wavy;
        background: color-mix(in srgb, var(--warn) 12%, var(--bg)); }
      .looks { margin: 0.6rem 0 0; color: var(--muted); font-size: 0.8rem; }
      .heads { display: grid; gap: 0.5rem; margin-top: 0.5rem;
        grid-template-columns: repeat(4, minmax(0, 5rem)); }
      .heads figure { margin: 0; }
      canvas { display: block; width: 100%; aspect-ratio: 1;
        border: 1px solid var(--rule); border-radius: 4px;
        background: var(--panel); image-rendering: pixelated; }
      .second { stroke: var(--c-key); stroke-dasharray: 6 3; }
      .thin { stroke-width: 1.25; }
      .cut { stroke: var(--warn); stroke-dasharray: 2 3; }
      .chart { margin: 0.6rem 0 0.9rem; color: var(--hi); }`;

    static state = { first: DEFAULTS, second: { never: [], taken: [] },
      two: false, slow: false };

    build(root) {
      this.runs = KINDS.map((kind) => ({ kind }));
      this.finishedRuns = [];
      if (this.linked()) requestAnimationFrame(() => this.scrollIntoView());
      root.querySelector(".title").textContent =
        this.question ?? "Train it, then take it apart";
      this.bar = this.makeBar();
      this.plot = s("svg", { class: "chart", role: "img", height: 230 });
      this.said = h("p", { class: this.question ? "note" : "visually-hidden",
        "aria-live": "polite" });
      this.warned = h("p", { class: "warn", role: "alert" });
      const [top, parts] = this.question ? [[], []] : this.makeControls();
      root.append(...top, this.bar, this.warned,
        this.part("div", { class: "runs" }, () => this.results), this.plot,
        this.legend, this.said, ...parts);
      if (!this.question) {
        this.lines = h("div", { class: "runs" });
        root.append(this.lines, this.makeLog(), this.makeFiles());
      }
      new ResizeObserver(() => this.draw()).observe(this.plot);
      new IntersectionObserver(([entry]) => {
        this.away = !entry.isIntersecting;
        this.drive();
      }).observe(this);
      document.addEventListener("visibilitychange", () => this.drive());
      addEventListener("hashchange", () => {
        if (!this.linked()) return;
        this.refresh();
        this.scrollIntoView();
      });
    }

    /** Take what the address says; the lab of a page alone has one. */
    linked() {
      const { hash } = location;
      if (!here || this.question || !hash.startsWith(HASH)) return false;
      try {
        const found = fromHash(hash);
        for (const kind of KINDS) settings({ ...found.first, ...found[kind] });
        Object.assign(this, found);
        return true;
      } catch (error) {
        this.problem = `The address has a setting that is not used. ${
          error.message}`;
        return false;
      }
    }

    // --- What a reader chooses

    /** All settings of a run. */
    of(kind) {
      return { ...DEFAULTS, ...this.first,
        ...kind === "second" && this.second };
    }

    /** Choose for a run; what no longer fits what was chosen goes. */
    choose(kind, name, value) {
      this[kind] = { ...this[kind], [name]: value };
      if (name === "task") {
        const { lengths: [least, most] = [1, 12] } = TASKS[value] ?? {};
        const { length, table } = this.of("first");
        this.first.length = Math.min(most, Math.max(least,
          value === "brackets" ? 12 : value === "lookup" ? 7 : length));
        this.kept = table || this.kept || SUMS;
        this.first.table = value === "table" ? this.kept : "";
        if (value === "table") this.first.length = DEFAULTS.length;
        if (["table", "brackets", "lookup"].includes(value)) {
          this.first.answers = "together";
        }
      }
      for (const one of KINDS) {
        const parts = partsOf(this.of(one));
        for (const list of ["never", "taken"]) {
          if (this[one][list]) {
            this[one][list] = this[one][list].filter((p) => parts.includes(p));
          }
        }
      }
      this.problem = "";
      this.refresh();
    }

    stateOf(kind, part) {
      const { never, taken } = this.of(kind);
      return never.includes(part) ? "never"
        : taken.includes(part) ? "taken" : "there";
    }

    setState(kind, part, state) {
      const of = this.of(kind);
      for (const list of ["never", "taken"]) {
        this[kind] = { ...this[kind], [list]: [
          ...of[list].filter((one) => one !== part),
          ...list === state ? [part] : []] };
      }
      this.problem = "";
      this.refresh();
    }

    /** A list as it stands now; options are pairs of a value and words. */
    list(key, label, value, options, choose) {
      return h("select", { "aria-label": label, "data-key": key,
        onchange: ({ target }) => choose(target.value) },
      options.map(([one, words]) => h("option",
        { value: one, selected: String(one) === String(value) }, words)));
    }

    /** One to choose a setting from. */
    pick(kind, name, label,
      options = CHOICES[name].map((one) => [one, String(one)])) {
      return this.list(`choose ${kind} ${name}`, label, this.of(kind)[name],
        options, (text) => this.choose(kind, name,
          typeof DEFAULTS[name] === "number" ? Number(text) : text));
    }

    /** One to take a part out. */
    pickState(kind, part, label) {
      const now = this.stateOf(kind, part);
      const made = this.list(`${kind} ${part}`, label, now,
        Object.entries(STATES), (state) => this.setState(kind, part, state));
      made.className = now === "there" ? "" : "less";
      made.disabled = !partsOf(this.of(kind)).includes(part);
      return made;
    }

    makeControls() {
      const picked = (name, options) => this.part("label", {}, () =>
        [h("span", { class: "name" }, name),
          this.pick("first", name, name, options?.())]);
      const length = picked("length", () => {
        const [least, most] = TASKS[this.of("first").task]?.lengths ?? [1, 0];
        return range(most - least + 1, least).map((n) => [n, String(n)]);
      });
      const answers = picked("answers", () => [["together", "all at once"],
        ["in turn", "one after the other"]]);
      const seed = h("input", { type: "number", min: 1, step: 1,
        onchange: () => this.choose("first", "seed", Math.max(1,
          Math.floor(Number(seed.value)) || 1)) });
      const second = this.toggle("two", "a second run beside it");
      second.addEventListener("change", () => { // from here on it is free
        this.second = { ...sizes(this.of("second")), ...this.second };
      }, { capture: true });
      const table = h("textarea", { "aria-label": "A row and its answer a line",
        spellcheck: "false", onchange: () =>
          this.choose("first", "table", table.value) });
      const held = h("p", { class: "looks" });
      const ownTable = h("div", {}, h("p", {}, "A line for each row, as "
        + "ab -> ba: what is read, an arrow, what is right."), table, held);
      this.redraws.push(() => {
        const { task } = this.of("first");
        seed.value = this.of("first").seed;
        table.value = this.of("first").table;
        length.hidden = task === "table";
        ownTable.hidden = task !== "table";
        answers.hidden = !TASKS[task]?.whole && task !== "brackets";
        try {
          held.textContent = "Never trained on: "
            + `${taskOf(this.of("first")).held?.join(", ")}.`;
        } catch {
          held.textContent = "";
        }
      });
      return [[h("div", { class: "controls" },
        picked("task", () => Object.entries(TASK_WORDS)), length, answers,
        h("label", {}, h("span", { class: "name" }, "seed"), seed),
        second), ownTable],
      [this.parts("What it has", () => partsOf(this.of("first"))
        .filter((part) => WORDS[part])),
      h("p", { class: "looks" }, "“Taken out” acts at once on what was "
        + "trained. “Never there” forgets it: train anew."),
      h("details", {}, h("summary", {}, "Heads one by one"),
        this.parts("Heads", () => [...new Set(KINDS.flatMap((kind) =>
          partsOf(this.of(kind))))].filter((part) => !WORDS[part]))),
      h("details", {}, h("summary", {}, "Depth, heads, rate, batch, steps"),
        this.table("Sizes", () => Object.keys(OWN), (name) => OWN[name],
          (...where) => this.pick(...where)),
        h("div", { class: "controls" }, picked("batch"), picked("steps")))]];
    }

    parts(caption, names) {
      return this.table(caption, names, word,
        (...where) => this.pickState(...where));
    }

    /** A row for each part or size, a column for each run. */
    table(caption, names, said, list) {
      return h("table", { class: "parts" },
        h("caption", { class: "visually-hidden" }, caption),
        this.part("thead", {}, () => h("tr", {}, h("td"), this.shown.map(
          ({ kind }) => h("th", { scope: "col" }, `${kind} run`)))),
        this.part("tbody", {}, () => names().map((name) => h("tr", {},
          h("th", { scope: "row" }, said(name),
            ELSE[name] && h("small", {}, ELSE[name])),
          this.shown.map(({ kind }) => h("td", {},
            list(kind, name, `${said(name)}, ${kind} run`)))))));
    }

    makeBar() {
      const train = button("", () => this.press(), { class: "go" });
      const step = button("One step", () => this.order({ order: "step" }));
      const again = button("Forget it all", () => this.begin());
      const link = here ? button("Copy the link", async () => {
        link.textContent = await navigator.clipboard?.writeText(location.href)
          .then(() => "Copied", () => null) ?? "It is in the address bar";
      }, { onblur: () => { link.textContent = "Copy the link"; } }) : null;
      const row = button("Another row", () => this.order({ order: "row" }));
      this.paintBar = () => {
        train.textContent = this.running ? "Pause"
          : this.finished ? `${MORE} steps more` : "Train";
        for (const one of [step, row]) one.disabled = this.running;
      };
      return h("div", { class: "controls" }, train, this.question ? []
        : [step, row, again, link, this.toggle("slow", "slow motion")]);
    }

    makeFiles() {
      const load = h("input", { type: "file", "aria-label":
        "Weights for the first run", onchange: async () => {
        const [file] = load.files;
        if (!file) return;
        const buffer = await file.arrayBuffer();
        this.runs[0].send({ order: "load", buffer });
        load.value = "";
      } });
      return h("details", {}, h("summary", {}, "Weights"), h("div",
        { class: "controls" }, button("Save the weights", () =>
          this.runs[0].send({ order: "save" }), { class: "saves" }),
        h("label", {}, h("span", { class: "name" },
          "load some of the same task and sizes"), load)));
    }

    // --- Runs

    get shown() { return this.two ? this.runs : this.runs.slice(0, 1); }

    get finished() {
      return this.shown.every(({ last }) => last?.finished);
    }

    order(order) {
      for (const run of this.shown) run.send(order);
    }

    /** Each run has begun with what was chosen, and lacks what it is to. */
    follow() {
      for (const run of this.shown) {
        const { taken, ...chosen } = this.of(run.kind);
        const wanted = JSON.stringify(chosen);
        try {
          settings({ ...chosen, taken });
        } catch (error) {
          this.problem = error.message;
          continue;
        }
        if (run.wanted !== wanted) this.begin(run);
        else if (String(run.taken) !== String(taken)) {
          run.marks.push(run.last?.step ?? 0);
          run.send({ order: "take", parts: taken });
        }
        Object.assign(run, { wanted, taken });
      }
    }

    begin(...runs) {
      for (const run of runs.length ? runs : this.shown) {
        run.send ??= trainer((report) => this.heard(run, report));
        Object.assign(run, { losses: [], shares: [], marks: [], last: null });
        run.send({ order: "begin", settings: this.of(run.kind) });
      }
      this.running = false;
      this.drive();
    }

    press() {
      if (this.question && !this.started) {
        this.started = true;
        this.follow();
      }
      if (this.running) this.running = false;
      else {
        if (this.finished) this.order({ order: "more", steps: MORE });
        for (const run of this.shown) if (run.last) run.last.finished = false;
        this.running = true;
        this.said.textContent = "";
      }
      this.drive();
      this.paintBar();
    }

    /** Nothing is computed that nobody sees. */
    drive() {
      const goes = this.running && !this.away && !document.hidden;
      for (const run of this.runs) {
        run.pace = [];
        const order = goes && this.shown.includes(run) ? "go" : "pause";
        run.send?.({ order, pause: this.slow ? SLOW : 0 });
      }
    }

    heard(run, report) {
      if (report.problem) {
        this.problem = report.problem;
        this.say();
        this.warned.scrollIntoView({ block: "nearest" });
        return;
      }
      const { losses, shares, step, seconds, saved } = report;
      run.losses.push(...losses);
      run.shares.push(...shares);
      run.last = report;
      run.pace = [...run.pace ?? [], [step, seconds]].slice(-20);
      if (saved) this.keep(saved);
      if (this.running && this.finished) {
        this.running = false;
        this.finishedRuns.push(...this.words());
      }
      // Who wants no motion sees what has changed once in two seconds.
      const rests = CALM.matches && this.running && Date.now() < this.calm;
      if (this.painting || rests) return;
      this.calm = Date.now() + 2000;
      this.painting = requestAnimationFrame(() => {
        this.painting = null;
        this.paint();
        if (!this.running) this.say();
      });
    }

    keep(buffer) {
      const address = URL.createObjectURL(new Blob([buffer]));
      const { task, seed } = this.of("first");
      h("a", { href: address, download: `${task}-${seed}.safetensors` })
        .click();
      URL.revokeObjectURL(address);
    }

    // --- What is seen

    update() {
      if (this.followed !== JSON.stringify(this.value)) {
        this.followed = JSON.stringify(this.value);
        if (!this.question || this.started) this.follow();
        const hash = toHash(this); // an address of a section stays
        if (here && !this.question && this.start &&
            (hash || location.hash.startsWith(HASH))) {
          history.replaceState(null, "", hash || location.pathname);
        }
        if (this.running) this.drive();
      }
      super.update();
      this.paint();
      this.say();
    }

    paint() {
      this.paintBar();
      for (const run of this.shown) {
        if (run.facts) run.facts.replaceChildren(...this.facts(run));
      }
      this.paintLooks();
      this.draw();
    }

    get results() {
      return this.shown.map((run) => {
        run.facts = h("p", { class: "result" }, this.facts(run));
        const level = this.question ? "h3" : "h2"; // the lab heads its page
        return h("section", {}, h(level, {}, this.name(run)), run.facts);
      });
    }

    lacks(kind) {
      const { never, taken } = this.of(kind);
      return Object.entries({ never, taken })
        .filter(([, parts]) => parts.length).map(([list, parts]) =>
          `${STATES[list]}: ${parts.map(word).join(", ")}`).join("; ");
    }

    /** What a run lacks, and the sizes that the other one does not share, or
     * that are not the usual ones. */
    name({ kind }) {
      const other = this.two ? this.of(kind === "first" ? "second" : "first")
        : DEFAULTS;
      const own = Object.entries(OWN).filter(([name]) =>
        this.of(kind)[name] !== other[name]).map(([name, words]) =>
        `${words}: ${this.of(kind)[name]}`);
      const words = [this.lacks(kind), ...own].filter(Boolean).join("; ");
      const which = this.two ? `${kind} run` : "this run";
      return `${which[0].toUpperCase()}${which.slice(1)}: ${
        words || "with all its parts"}`;
    }

    facts({ last, losses = [], pace = [] }) {
      if (isNew(last)) return [h("b", {}, "–"), h("br"), "not trained yet"];
      const { step, steps, seconds, of } = last;
      const ends = losses.slice(-20).map(([, loss]) => loss);
      const loss = ends.length
        ? `loss ${(total(ends) / ends.length).toFixed(2)}` : "loaded weights";
      const [[from, since], [to, until]] = [pace[0] ?? [0, 0],
        pace.at(-1) ?? [0, 0]];
      const speed = (to - from) / (until - since);
      const left = this.running && speed > 0 ? `, ${
        ((steps - step) / speed).toFixed(0)} s left` : "";
      const fast = step && seconds ? `, ${
        (step / seconds).toFixed(0)} steps a second` : "";
      return [h("b", {}, percent(last)), ` of ${of} unseen rows right`, h("br"),
        `${loss}, step ${step} of ${steps}, ${
          seconds.toFixed(1)} s${fast}${left}`];
    }

    words() {
      const { task, seed } = this.of("first");
      return this.shown.filter(({ last }) => !isNew(last)).map((run) =>
        `${this.name(run)}, ${TASK_WORDS[task]}, seed ${seed}: after `
        + `${run.last.step} steps ${percent(run.last)} of ${run.last.of} `
        + "unseen rows are right.");
    }

    /** The result in words; nothing while it runs. */
    say() {
      const words = this.running ? "" : this.words().join(" ");
      if (this.said.textContent !== words) this.said.textContent = words;
      const [first, second] = KINDS.map((kind) =>
        JSON.stringify(Object.entries(this.of(kind)).sort()));
      const problem = this.problem || (this.two && first === second
        ? "Both runs are the same. Change something in the second column."
        : "");
      this.warned.hidden = !problem;
      this.warned.textContent = problem;
      this.paintLog?.();
    }

    /** What has finished, for who compares more than two. */
    makeLog() {
      const list = h("ol"), title = h("summary");
      const log = h("details", {}, title, list);
      this.paintLog = () => {
        title.textContent = `Your runs so far (${this.finishedRuns.length})`;
        list.replaceChildren(...this.finishedRuns.map((words) =>
          h("li", {}, words)));
      };
      return log;
    }

    get legend() {
      const line = (kind) => swatch("", s("path",
        { class: `line ${kind}`, d: "M0,6H28" }));
      const cut = swatch("", s("path", { class: "cut", d: "M14,0V12" }));
      return this.part("p", { class: "legend" }, () => [...this.two
        ? KINDS.map((kind) => h("span", {}, line(kind), `${kind} run`)) : [],
      h("span", {}, cut, "a part taken out or put back")]);
    }

    /** Above, the share of rows that are right; below, the loss. */
    draw() {
      const [left, right] = [46, (this.plot.clientWidth || 600) - 10];
      const steps = Math.max(...this.shown.map(({ last }) =>
        last?.steps ?? DEFAULTS.steps));
      const most = Math.max(4, ...this.shown.flatMap(({ losses = [] }) =>
        losses.slice(0, 1).map(([, loss]) => Math.ceil(loss))));
      const x = linear([0, steps], [left, right]);
      const y = linear([0, 1], [112, 16]);
      const low = linear([0, most], [206, 146]);
      const path = (points, height, kind) => {
        const jump = Math.ceil(points.length / 300);
        const kept = points.filter((_, n) => n % jump === 0
          || n === points.length - 1);
        return kept.length ? s("path", { class: `line ${kind}`, d: `M${
          kept.map(([at, v]) => `${x(at).toFixed(1)},${
            height(v).toFixed(1)}`).join("L")}` }) : [];
      };
      const scale = [0, steps / 2, steps];
      const title = (at, words) => s("text", { x: left, y: at }, words);
      this.plot.replaceChildren(
        ...axes({ x, y, left, right, bottom: 112, levels: [0, 0.5, 1],
          level: (n) => `${100 * n}%`, scale: [] }),
        ...axes({ x, y: low, left, right, bottom: 206,
          levels: [0, most / 2, most], scale, name: "" }),
        title(8, "unseen rows that are right"), title(138, "loss"),
        s("text", { x: (left + right) / 4, y: 224, "text-anchor": "middle" },
          "step"),
        ...this.shown.flatMap((run) => {
          const { kind, shares = [], losses = [], marks = [] } = run;
          return [...marks.map((at) => s("path", { class: "cut",
            d: `M${x(at)},16V112M${x(at)},146V206` })),
          path(losses, (v) => low(Math.min(v, most)), `${kind} thin`),
          path(shares, y, kind)];
        }).flat());
      const ends = this.shown.filter(({ last }) => last).map((run) =>
        `${run.kind} run: ${percent(run.last)}`);
      this.plot.setAttribute("aria-label", "Share of unseen rows that are "
        + `right, and loss, by step. ${ends.join(", ")}`);
    }

    /** One unseen row, and where the heads look; before there is one, as much
     * room. */
    paintLooks() {
      if (!this.lines) return;
      this.ink = getComputedStyle(this.plot).color;
      this.lines.replaceChildren(...this.shown.map((run) => this.looks(run)));
    }

    looks({ kind, last }) {
      const all = this.of(kind), blank = Array(all.length).fill("");
      const none = { row: blank, said: blank, answer: blank, heads: [] };
      const { row, said, sure, answer, heads } = !isNew(last) ? last.look
        : { ...last?.look ?? none, said: blank, heads: [] };
      const cells = (words, signs, mark) => h("tr", {},
        h("th", { scope: "row" }, words), signs.map((sign, i) => {
          const counts = !mark || answer[i] !== "";
          return h("td", { class: counts && mark && sign && sign !== answer[i]
            && "wrong", title: counts && mark && sure
            ? `${(100 * sure[i]).toFixed(0)}% sure` : null },
          counts ? sign : "");
        }));
      const caption = `An unseen row${this.two ? `, ${kind} run` : ""}`;
      const names = partsOf(all).filter((part) => !WORDS[part]);
      return h("div", {}, wide(row.length + 1, caption, h("table",
        { class: "row" }, h("caption", {}, caption), h("tbody", {},
          cells("reads", row), cells("says", said, true),
          cells("should say", answer)))),
      h("p", { class: "looks" }, "Each head: a row for each place that looks; "
        + "the stronger the colour, the more it looks there."),
      h("div", { class: "heads" }, names.map((name, n) => h("figure", {},
        this.map(heads[n] ?? [[]], `${word(name)}: where each place looks`),
        h("figcaption", {}, all.layers > 1 ? word(name) : `head ${n}`)))));
    }

    /** A head's weights: rows ask, columns answer. */
    map(table, words) {
      const canvas = h("canvas", { width: table[0].length || 1,
        height: table.length, role: "img", "aria-label": words });
      const pen = canvas.getContext("2d");
      pen.fillStyle = this.ink;
      table.forEach((row, i) => row.forEach((weight, j) => {
        pen.globalAlpha = weight;
        pen.fillRect(j, i, 1, 1);
      }));
      return canvas;
    }
  });
})();
