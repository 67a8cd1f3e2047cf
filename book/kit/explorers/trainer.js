"use strict";
// Trains chapter 8's model on a task, in slices: in a Worker, or between the
// frames of a page that may start none, as one that was opened as a file.
(() => {
  if (globalThis.Trainer) return;
  const inWorker = typeof WorkerGlobalScope === "function"
    && globalThis instanceof WorkerGlobalScope;
  if (inWorker) importScripts("engine.js");
  const { NumberModel, readSafetensors, refuse, writeSafetensors } =
    globalThis.Engine;

  // --- Chance: numbers from 0 to 1, the same for a seed everywhere

  function random(seed) { // mulberry32
    let a = Math.imul(seed, 0x9e3779b1);
    return () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = a;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }
  /** By Box and Muller. */
  const normal = (uniform) => Math.sqrt(-2 * Math.log(1 - uniform()))
    * Math.cos(2 * Math.PI * uniform());
  const below = (n, uniform) => Math.floor(n * uniform());

  // --- Tasks: what is read, and what is right at each place; -1: anything

  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const numbers = range(20).map(String);
  const LETTERS = "abcdef", [OPEN, CLOSE] = [13, 14];
  /** Some of a list, in any order. */
  const some = (count, list, uniform) => {
    const deck = [...list];
    for (let i = 0; i < count; i++) {
      const j = i + below(deck.length - i, uniform);
      [deck[i], deck[j]] = [deck[j], deck[i]];
    }
    return deck.slice(0, count);
  };
  const fifth = (row) => row.reduce((sum, id) => sum + id, 0) % 5 === 0;

  /** Rows of different numbers. Those whose sum is a multiple of 5 are never
   * trained on, so that no set of numbers is in both. */
  const ofNumbers = (answer) => ({ signs: numbers, lengths: [4, 10],
    whole: true, unseen: fifth, answer,
    draw: (length, uniform) => some(length, range(20), uniform) });

  const TASKS = {
    sort: ofNumbers((row) => [...row].sort((a, b) => a - b)),
    reverse: ofNumbers((row) => [...row].reverse()),
    copy: ofNumbers((row) => [...row]),
    /** Letters with a digit each, then three of the letters: their digits. */
    lookup: { lengths: [6, 9], unseen: fifth,
      signs: [...range(6), ...LETTERS, ...[...LETTERS].flatMap((letter) =>
        range(6).map((digit) => letter + digit))].map(String),
      draw(length, uniform) {
        const keys = some(length - 3, range(6), uniform);
        return [...keys.map((key) => 12 + 6 * key + below(6, uniform)),
          ...some(3, keys, uniform).map((key) => 6 + key)];
      },
      answer: (row) => row.map((id) => id >= 12 ? -1
        : row.find((pair) => Math.floor(pair / 6) === id - 4) % 6) },
    /** Brackets of which none closes what is not open: how many are open. */
    brackets: { lengths: [8, 12], signs: [...numbers.slice(0, OPEN), "(", ")"],
      draw(length, uniform) {
        let open = 0;
        return range(length).map(() => {
          const closes = open && below(2, uniform);
          open += closes ? -1 : 1;
          return closes ? CLOSE : OPEN;
        });
      },
      unseen: (row) => fifth(row.map((id, i) => (id - OPEN) * (i + 1))),
      answer(row) {
        let open = 0;
        return row.map((id) => open += id === OPEN ? 1 : -1);
      } },
  };

  /** A task of the reader's own: a line for each row, as "3+4 → 07". A fifth,
   * drawn once, is never trained on: in order, it might be a column. */
  function ownTask(text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const parts = lines.map((line, n) => {
      const [left, right, ...more] = line.split(/\s*(?:→|->|\t)\s*/)
        .map((side) => [...side]);
      const problem = !right || more.length || !left.length || !right.length
        ? "write it as 3+4 → 07" : right.length > left.length
          ? "the answer has more characters than the row" : left.length > 12
            ? "at most 12 characters" : "";
      if (problem) throw new Error(`Line ${n + 1}: ${problem}.`);
      return [left, right];
    });
    if (lines.length < 10) throw new Error("At least 10 lines, please.");
    const length = Math.max(...parts.map(([left]) => left.length));
    const signs = [...new Set(["␣", ...parts.flat(2).sort()])];
    const at = new Map();
    for (const [n, [left, right]] of parts.entries()) {
      const row = range(length).map((i) => signs.indexOf(left[i] ?? "␣"));
      const answer = range(length).map((i) => signs.indexOf(right[i]));
      const known = at.get(String(row));
      if (known && String(known.answer) !== String(answer)) {
        throw new Error(`Line ${n + 1}: ${left.join("")} had another answer.`);
      }
      at.set(String(row), { row, answer, line: left.join("") });
    }
    const rows = [...at.values()];
    const held = some(Math.floor(rows.length / 5), rows, random(1));
    for (const one of held) one.unseen = true;
    return { signs, lengths: [length, length],
      held: held.map(({ line }) => line),
      draw: (_, uniform) => [...rows[below(rows.length, uniform)].row],
      unseen: (row) => Boolean(at.get(String(row)).unseen),
      answer: (row) => at.get(String(row)).answer };
  }

  // --- Settings, and what they may be

  const PARTS = ["attention", "choice", "positions", "feed_forward",
    "residual", "norm", "scale", "causal"];
  const DEFAULTS = { task: "sort", length: 8, answers: "together", layers: 1,
    heads: 4, norm: "after", rate: 0.03, warm_up: 50, batch: 64, steps: 600,
    seed: 1, never: [], taken: [], table: "" };
  const CHOICES = { answers: ["together", "in turn"], layers: [1, 2, 3],
    heads: [1, 2, 4, 8], norm: ["after", "before"],
    rate: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3], warm_up: [1, 50, 200],
    batch: [8, 16, 32, 64, 128], steps: [200, 400, 600, 1000, 2000] };
  const headNames = ({ layers, heads }) => range(layers).flatMap((block) =>
    range(heads).map((head) => `${block}.${head}`));
  /** What a model of these settings has, and can lack. */
  const partsOf = (all) => [...PARTS.filter((part) =>
    part !== "causal" || all.answers === "in turn"), ...headNames(all)];
  const taskOf = ({ task, table }) =>
    task === "table" ? ownTask(table) : TASKS[task];

  /** All settings, or an error that names the one that cannot be. */
  function settings(given) {
    const all = { ...DEFAULTS, ...given };
    const no = (name, wanted) => {
      throw new Error(`${name}=${all[name]}: expected ${wanted}.`);
    };
    for (const name of Object.keys(given)) {
      if (!(name in DEFAULTS)) throw new Error(`${name}: no such setting.`);
    }
    for (const [name, list] of Object.entries(CHOICES)) {
      if (!list.includes(all[name])) no(name, list.join(", "));
    }
    const names = [...Object.keys(TASKS), "table"];
    if (!names.includes(all.task)) no("task", names.join(", "));
    if (!(Number.isInteger(all.seed) && all.seed > 0)) {
      no("seed", "a whole number from 1");
    }
    const task = taskOf(all), [least, most] = task.lengths;
    if (all.task === "table") {
      if (all.length !== DEFAULTS.length) no("length", "that of the table");
      all.length = most;
    } else if (all.table) no("table", "none for this task");
    if (!(Number.isInteger(all.length) && all.length >= least
      && all.length <= most)) no("length", `${least} to ${most}`);
    const parts = partsOf(all);
    for (const name of ["never", "taken"]) {
      for (const part of all[name]) {
        if (!parts.includes(part)) no(name, `some of ${parts.join(", ")}`);
      }
    }
    return all;
  }

  /** What a model lacks, as the engine says it. */
  const changeOf = (parts) => ({
    ...Object.fromEntries(PARTS.map((part) => [part, !parts.includes(part)])),
    silent: parts.filter((part) => !PARTS.includes(part)).map((part) =>
      `encoder.blocks.${part.replace(".", ".attention.")}`) });

  // --- Training

  /** As torch.optim.Adam. */
  class Adam {
    constructor(weights) {
      Object.assign(this, { beta1: 0.9, beta2: 0.999, steps: 0 });
      this.all = Object.values(weights).map(({ data, grad }) => ({ data, grad,
        mean: new Float64Array(data.length),
        square: new Float64Array(data.length) }));
    }

    step(rate) {
      const { beta1, beta2 } = this, t = ++this.steps;
      const fix = rate / (1 - beta1 ** t), root = Math.sqrt(1 - beta2 ** t);
      for (const { data, grad, mean, square } of this.all) {
        for (let i = 0; i < data.length; i++) {
          const g = grad[i];
          mean[i] = beta1 * mean[i] + (1 - beta1) * g;
          square[i] = beta2 * square[i] + (1 - beta2) * g * g;
          data[i] -= fix * mean[i] / (Math.sqrt(square[i]) / root + 1e-8);
        }
      }
    }
  }

  /** Random weights, by the laws of the book's modules. */
  function begin(weights, uniform) {
    for (const [name, { shape, data }] of Object.entries(weights)) {
      const of = weights[name.replace("bias", "weight")].shape;
      const bound = 1 / Math.sqrt(of.at(-1));
      for (let i = 0; i < data.length; i++) {
        data[i] = name.includes("norm") ? Number(name.endsWith("weight"))
          : name.startsWith("embedding") ? normal(uniform) * bound
            : (2 * uniform() - 1) * bound;
      }
    }
  }

  const WIDTH = 32;
  const FEW = 100, MANY = 500; // unseen rows: while it learns, and at rest

  /** A model on its way through a task. */
  class Run {
    constructor(given) {
      const all = this.settings = settings(given);
      const { task: name, length, layers, heads, answers, norm, seed } = all;
      this.task = taskOf(all);
      const causal = answers === "in turn";
      this.inTurn = causal && Boolean(this.task.whole);
      this.uniform = random(seed);
      this.model = new NumberModel({ vocab_size: this.task.signs.length,
        d_model: WIDTH, d_ff: 2 * WIDTH, heads, layers, causal,
        norm_first: norm === "before" }, {},
      changeOf([...all.never, ...all.taken]));
      begin(this.model.weights, this.uniform);
      this.model.backward(this.batch(1, random(0))); // makes the gradients
      this.adam = new Adam(this.model.weights);
      this.step = 0;
    }

    draw(unseen, uniform) {
      for (;;) {
        const row = this.task.draw(this.settings.length, uniform);
        if (this.task.unseen(row) === unseen) return row;
      }
    }

    /** What the model reads of rows, and what is right at each place. */
    pair(rows, answers = rows.map(this.task.answer)) {
      const wait = Array(this.settings.length - 1).fill(-1);
      const pairs = rows.map((row, n) => this.inTurn
        ? [[...row, ...answers[n].slice(0, -1)], [...wait, ...answers[n]]]
        : [row, answers[n]]);
      const [source, right] = [0, 1].map((side) =>
        Int32Array.from(pairs.flatMap((pair) => pair[side])));
      return { source, answers: right, batch: rows.length };
    }

    batch(size = this.settings.batch, uniform = this.uniform) {
      return this.pair(range(size).map(() => this.draw(false, uniform)));
    }

    /** Up over the warm-up, then down to zero, as in chapter 8. */
    rate(step = this.step) {
      const { rate, warm_up: up, steps } = this.settings;
      return rate * Math.min(1, (step + 1) / up)
        * Math.max(0, 1 - step / steps);
    }

    learn() {
      const loss = this.model.backward(this.batch());
      this.adam.step(this.rate());
      this.step++;
      return loss;
    }

    /** Rows that it never trains on, each once; as many as there are. */
    unseen(count) {
      if (!this.tests) {
        const uniform = random(20_26), rows = new Map();
        for (let n = 0; n < 20 * MANY && rows.size < MANY; n++) {
          const row = this.draw(true, uniform);
          rows.set(String(row), row);
        }
        this.tests = [...rows.values()];
      }
      return this.tests.slice(0, count);
    }

    /** What it says of rows: the likeliest sign at each place, and how sure
     * it is; in turn, it reads what it has written. */
    say(rows) {
      const { signs: { length: vocab } } = this.task;
      const { length } = this.settings;
      const blank = rows.map(() => Array(length).fill(0));
      const places = this.inTurn ? length : 1;
      let said = blank.map((row) => [...row]), sure = blank;
      for (let n = 0; n < places; n++) {
        const batch = this.pair(rows, said);
        const logits = this.model.forward(batch);
        const each = batch.source.length / rows.length;
        const first = each - length;
        said = said.map((row, r) => row.map((_, i) => {
          const at = (r * each + first + i) * vocab;
          const scores = logits.subarray(at, at + vocab);
          let best = 0;
          for (let v = 1; v < vocab; v++) {
            if (scores[v] > scores[best]) best = v;
          }
          sure[r][i] = 1 / scores.reduce((sum, score) =>
            sum + Math.exp(score - scores[best]), 0);
          return best;
        }));
      }
      return { said, sure };
    }

    /** How many of so many unseen rows are right at every place. */
    measure(count) {
      const rows = this.unseen(count), { said } = this.say(rows);
      const right = rows.filter((row, r) => this.task.answer(row)
        .every((id, i) => id < 0 || id === said[r][i])).length;
      return { right, of: rows.length };
    }

    /** One of the unseen rows, closely. */
    look(n) {
      const rows = this.unseen(FEW), row = rows[n % rows.length];
      const { said, sure } = this.say([row]), { signs } = this.task;
      const words = (ids) => Array.from(ids, (id) => id < 0 ? "" : signs[id]);
      const answer = this.task.answer(row);
      return { row: words(row), said: words(said[0]), sure: sure[0],
        answer: words(answer), heads: this.model.looks().flat() };
    }

    take(parts) {
      this.settings.taken = parts;
      this.model.change = Object.assign(this.model.change,
        changeOf([...this.settings.never, ...parts]));
    }

    save() {
      return writeSafetensors(this.model.weights);
    }

    load(buffer) {
      const { weights } = this.model, found = readSafetensors(buffer);
      refuse(found, weights);
      for (const name in found) weights[name].data.set(found[name].data);
      this.adam = new Adam(weights); // the moments were those of others
      this.loaded = true;
    }
  }

  const OFTEN = 100; // ms between two reports
  const EACH = 20; // steps, after which it is measured: time plays no part

  /** Takes orders, and reports: {step, steps, losses, shares, right, of, look,
   * running, seconds}, or {problem}. slice: milliseconds it may take. */
  class Trainer {
    constructor(report, slice) {
      Object.assign(this, { report, slice, running: false, next: 0 });
    }

    async take({ order, ...given }) {
      if (order === "pause" && !this.running) return;
      try {
        this.running &&= order !== "begin" && order !== "pause";
        if (order === "begin") this.begin(given);
        else if (order === "go") this.go(given);
        else if (order === "step") this.finished || this.learn();
        else if (order === "take") this.run.take(given.parts);
        else if (order === "more") this.run.settings.steps += given.steps;
        else if (order === "row") this.row++;
        else if (order === "load") this.run.load(given.buffer);
        else if (order === "save") this.saved = await this.run.save();
        else if (order !== "pause") throw new Error(`${order}: no such order`);
        if (order !== "go") this.tell();
      } catch (error) {
        this.report({ problem: error.message });
      }
    }

    begin({ settings: given }) {
      this.run = new Run(given);
      Object.assign(this, { row: 0, losses: [], shares: [], seconds: 0 });
    }

    learn() {
      const { run } = this;
      this.losses.push([run.step, run.learn()]);
      if (run.step % EACH) return;
      this.last = run.measure(FEW);
      this.shares.push([run.step, this.last.right / this.last.of]);
    }

    get finished() {
      return this.run.step >= this.run.settings.steps;
    }

    /** pause: milliseconds between two steps, for who wants to look on. */
    go({ pause = 0 }) {
      this.pause = pause;
      if (this.finished) this.tell();
      if (this.running || this.finished) return;
      this.running = true;
      this.since = performance.now();
      setTimeout(() => this.work(), 0);
    }

    work() {
      if (!this.running) return;
      const start = performance.now();
      do this.learn();
      while (!this.pause && !this.finished
        && performance.now() - start < this.slice);
      this.running = !this.finished;
      const now = performance.now();
      this.seconds += (now - this.since) / 1000;
      this.since = now;
      if (!this.running || now > this.next) this.tell();
      if (this.running) setTimeout(() => this.work(), this.pause);
    }

    tell() {
      const { run, losses, running, finished, seconds, saved } = this;
      if (!running || !run.step) {
        this.last = run.measure(MANY);
        this.shares.push([run.step, this.last.right / this.last.of]);
      }
      this.report({ step: run.step, steps: run.settings.steps, losses,
        shares: this.shares, ...this.last, look: run.look(this.row), running,
        loaded: run.loaded, finished, seconds, saved });
      Object.assign(this, { losses: [], shares: [], saved: undefined,
        next: performance.now() + OFTEN });
    }
  }

  globalThis.Trainer = { Adam, CHOICES, DEFAULTS, Run, TASKS, Trainer, partsOf,
    settings, taskOf };
  if (inWorker) {
    const trainer = new Trainer((report) => postMessage(report), 60);
    addEventListener("message", ({ data }) => trainer.take(data));
  }
})();
