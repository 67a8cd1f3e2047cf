"use strict";
// lib/ once more, to be trained and asked in a browser: the modules of
// chapters 1 to 10 under their names, each with its backward pass. Weights
// have the names of the state_dict. All numbers are float64; a tensor is one
// array, row after row, and `rows` says how many of them there are.
//
// What can be taken away (`change`), before, during or after training:
//   attention, feed_forward, residual, norm, positions, scale, causal, padding
//   choice   all weights of a head are equal: a plain mean
//   silent   heads that hand over zero, as "encoder.blocks.0.attention.1"
(() => {
  if (globalThis.Engine) return;
  const INTACT = { attention: true, feed_forward: true, residual: true,
    norm: true, positions: true, scale: true, causal: true, padding: true,
    choice: true, silent: [] };

  // --- Weights and their file

  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const rest = bits & 1023;
    if (exponent === 31) return rest ? NaN : sign * Infinity;
    if (exponent === 0) return sign * rest * 2 ** -24;
    return sign * (1 + rest / 1024) * 2 ** (exponent - 15);
  };
  const KINDS = {
    F16: (bytes) => Float64Array.from(new Uint16Array(bytes), half),
    F32: (bytes) => Float64Array.from(new Float32Array(bytes)),
    F64: (bytes) => new Float64Array(bytes),
  };

  /** The tensors of a safetensors file, {shape, data} by name; integers are
   * left out. */
  function readSafetensors(buffer) {
    try {
      return tensorsOf(buffer);
    } catch {
      throw new Error("This is no safetensors file.");
    }
  }

  function tensorsOf(buffer) {
    const size = Number(new DataView(buffer).getBigUint64(0, true));
    const text = new TextDecoder().decode(new Uint8Array(buffer, 8, size));
    const tensors = {};
    for (const [name, entry] of Object.entries(JSON.parse(text))) {
      if (!KINDS[entry.dtype]) continue;
      const [from, to] = entry.data_offsets.map((at) => at + 8 + size);
      const data = KINDS[entry.dtype](buffer.slice(from, to));
      tensors[name] = { shape: entry.shape, data };
    }
    return tensors;
  }

  /** Say what differs between tensors of a file and the weights of a model. */
  function refuse(found, weights) {
    const shape = (tensor) => tensor.shape.join(" × ");
    for (const name of Object.keys({ ...weights, ...found })) {
      if (!found[name]) throw new Error(`${name} is missing in this file.`);
      if (!weights[name]) {
        throw new Error(`${name}: the page's model has no such part.`);
      }
      const [expected, got] = [weights[name], found[name]].map(shape);
      if (expected !== got) {
        throw new Error(`${name}: expected ${expected}, got ${got}.`);
      }
      if (!found[name].data.every(Number.isFinite)) {
        throw new Error(`${name}: not every number is finite.`);
      }
    }
  }

  /** The bytes of such a file, in float32. */
  function writeSafetensors(tensors) {
    const header = {}, data = [];
    let end = 0;
    for (const [name, { shape, data: numbers }] of Object.entries(tensors)) {
      const from = end;
      end += 4 * numbers.length;
      header[name] = { dtype: "F32", shape, data_offsets: [from, end] };
      data.push(Float32Array.from(numbers));
    }
    let text = JSON.stringify(header);
    text += " ".repeat((8 - (text.length % 8)) % 8);
    const size = new BigUint64Array([BigInt(text.length)]);
    return new Blob([size, text, ...data]).arrayBuffer();
  }

  /** The weight of this name and shape: one that is given, or else of zeros,
   * which is then in `weights`. */
  function take(weights, name, ...shape) {
    const size = shape.reduce((a, b) => a * b);
    weights[name] ??= { shape, data: new Float64Array(size) };
    const got = weights[name].shape.join(" × ");
    if (got === shape.join(" × ")) return weights[name];
    throw new Error(`${name}: expected ${shape.join(" × ")}, got ${got}.`);
  }

  const gradient = (weight) =>
    weight.grad ??= new Float64Array(weight.data.length);

  // --- Numbers: all that costs time

  /** y += a b. y has n rows of m; entry [r, k] of a stands at
   * r · aRow + k · aStep, entry [k, c] of b at c · bColumn + k · bStep. */
  function product(y, n, m, depth, a, aRow, aStep, b, bColumn, bStep) {
    const tiledN = n - (n % 2), tiledM = m - (m % 4);
    const b1 = bColumn, b2 = 2 * bColumn, b3 = 3 * bColumn;
    for (let r = 0; r < tiledN; r += 2) {
      for (let c = 0; c < tiledM; c += 4) { // eight sums, kept in registers
        let p0 = 0, p1 = 0, p2 = 0, p3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
        for (let k = 0, i = r * aRow, j = c * bColumn; k < depth; k++) {
          const u = a[i], v = a[i + aRow];
          const f0 = b[j], f1 = b[j + b1], f2 = b[j + b2], f3 = b[j + b3];
          p0 += u * f0; p1 += u * f1; p2 += u * f2; p3 += u * f3;
          q0 += v * f0; q1 += v * f1; q2 += v * f2; q3 += v * f3;
          i += aStep;
          j += bStep;
        }
        const at = r * m + c, below = at + m;
        y[at] += p0; y[at + 1] += p1; y[at + 2] += p2; y[at + 3] += p3;
        y[below] += q0; y[below + 1] += q1;
        y[below + 2] += q2; y[below + 3] += q3;
      }
    }
    for (let r = 0; r < n; r++) { // what the tiles leave
      for (let c = r < tiledN ? tiledM : 0; c < m; c++) {
        let sum = 0;
        for (let k = 0, i = r * aRow, j = c * bColumn; k < depth; k++) {
          sum += a[i] * b[j];
          i += aStep;
          j += bStep;
        }
        y[r * m + c] += sum;
      }
    }
  }

  /** In place. An entry of -inf gets 0; a row of nothing else, too. */
  function softmax(row, from = 0, to = row.length) {
    let most = -Infinity, sum = 0;
    for (let i = from; i < to; i++) if (row[i] > most) most = row[i];
    if (most === -Infinity) return row.fill(0, from, to);
    for (let i = from; i < to; i++) sum += row[i] = Math.exp(row[i] - most);
    for (let i = from; i < to; i++) row[i] /= sum;
    return row;
  }

  /** Of each query, head after head, the weights of all keys and the mean of
   * their values. q: a row of D for each query; kv: a row of 2 D for each key,
   * with its value behind it; may: 1 where a query may look at a key. */
  function attend(of, weights, context) {
    const { q, kv, batch, queries, keys, heads, D, may, root, choice } = of;
    const width = D / heads;
    for (let n = 0; n < batch; n++) {
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < queries; i++) {
          const seen = (n * queries + i) * keys;
          const from = ((n * heads + h) * queries + i) * keys;
          const at = (n * queries + i) * D + h * width;
          for (let j = 0; j < keys; j++) {
            let sum = 0;
            if (may && !may[seen + j]) sum = -Infinity;
            else if (choice) {
              const k = (n * keys + j) * 2 * D + h * width;
              for (let c = 0; c < width; c++) sum += q[at + c] * kv[k + c];
            }
            weights[from + j] = sum / root;
          }
          softmax(weights, from, from + keys);
          for (let c = 0; c < width; c++) context[at + c] = 0;
          if (of.silent[h]) continue;
          for (let j = 0; j < keys; j++) {
            const weight = weights[from + j];
            const v = ((n * keys + j) * 2 + 1) * D + h * width;
            for (let c = 0; c < width; c++) {
              context[at + c] += weight * kv[v + c];
            }
          }
        }
      }
    }
  }

  /** Adds to dq and dkv what follows from dContext. */
  function attendBack(of, weights, dContext, dq, dkv) {
    const { q, kv, batch, queries, keys, heads, D, root, choice } = of;
    const width = D / heads, dWeights = new Float64Array(keys);
    for (let n = 0; n < batch; n++) {
      for (let h = 0; h < heads; h++) {
        if (of.silent[h]) continue;
        for (let i = 0; i < queries; i++) {
          const from = ((n * heads + h) * queries + i) * keys;
          const at = (n * queries + i) * D + h * width;
          let along = 0;
          for (let j = 0; j < keys; j++) {
            const weight = weights[from + j];
            const v = ((n * keys + j) * 2 + 1) * D + h * width;
            let sum = 0;
            for (let c = 0; c < width; c++) {
              const d = dContext[at + c];
              sum += d * kv[v + c];
              dkv[v + c] += weight * d;
            }
            dWeights[j] = sum;
            along += weight * sum;
          }
          if (!choice) continue;
          for (let j = 0; j < keys; j++) {
            const k = (n * keys + j) * 2 * D + h * width;
            const d = weights[from + j] * (dWeights[j] - along) / root;
            for (let c = 0; c < width; c++) {
              dq[at + c] += d * kv[k + c];
              dkv[k + c] += d * q[at + c];
            }
          }
        }
      }
    }
  }

  /** The mean of -log p(answer), and in the place of the logits its gradient.
   * An answer below 0 does not count. */
  function crossEntropy(logits, answers, vocab) {
    const counted = answers.reduce((sum, id) => sum + (id >= 0), 0);
    let loss = 0;
    answers.forEach((id, r) => {
      const from = r * vocab, to = from + vocab;
      if (id < 0) {
        logits.fill(0, from, to);
        return;
      }
      let best = from;
      for (let i = from; i < to; i++) if (logits[i] > logits[best]) best = i;
      loss += logits[best] - logits[from + id];
      softmax(logits, from, to);
      loss -= Math.log(logits[best]); // never of 0
      logits[from + id] -= 1;
      for (let i = from; i < to; i++) logits[i] /= counted;
    });
    return loss / counted;
  }

  // --- Modules

  /** Has arrays that live as long as it does and only grow. */
  class Module {
    rooms = {};

    room(name, size) {
      const old = this.rooms[name];
      return old?.length >= size ? old
        : this.rooms[name] = new Float64Array(size);
    }

    zeros(name, size) {
      return this.room(name, size).fill(0, 0, size);
    }

    sum(name, x, y, size) {
      const out = this.room(name, size);
      for (let i = 0; i < size; i++) out[i] = x[i] + y[i];
      return out;
    }
  }

  /** x Wᵀ + b, with all rows of W or a part of them. */
  class Linear extends Module {
    constructor(weights, name, inputs, outputs, bias = true) {
      super();
      Object.assign(this, { inputs, outputs });
      this.weight = take(weights, `${name}.weight`, outputs, inputs);
      this.bias = bias && take(weights, `${name}.bias`, outputs);
    }

    forward(x, rows, first = 0, outputs = this.outputs) {
      const y = this.zeros(`y ${first}`, rows * outputs), { inputs } = this;
      if (this.bias) {
        const bias = this.bias.data.subarray(first, first + outputs);
        for (let r = 0; r < rows; r++) y.set(bias, r * outputs);
      }
      const weight = this.weight.data.subarray(first * inputs);
      product(y, rows, outputs, inputs, x, inputs, 1, weight, inputs, 1);
      return y;
    }

    /** dx, and the gradients of the weights become more. */
    backward(dy, x, rows, first = 0, outputs = this.outputs) {
      const { inputs, weight, bias } = this;
      const grad = gradient(weight).subarray(first * inputs);
      product(grad, outputs, inputs, rows, dy, 1, outputs, x, 1, inputs);
      if (bias) {
        const sums = gradient(bias);
        for (let r = 0, at = 0; r < rows; r++) {
          for (let c = 0; c < outputs; c++) sums[first + c] += dy[at++];
        }
      }
      const dx = this.zeros(`dx ${first}`, rows * inputs);
      product(dx, rows, inputs, outputs, dy, outputs, 1,
        weight.data.subarray(first * inputs), 1, inputs);
      return dx;
    }
  }

  /** Rows of a table, times √d, plus the sinusoids of their places. */
  class Embedding extends Module {
    constructor(weights, name, vocab, { d_model: width, pad_id }, change) {
      super();
      this.table = take(weights, `${name}.table.weight`, vocab, width);
      Object.assign(this, { width, change, pad: pad_id ?? -1 });
    }

    /** How place p is written: sines and cosines, rounded as in the book. */
    place(p) {
      return this.places?.[p] ?? ((this.places ??= [])[p] = Float64Array.from(
        { length: this.width }, (_, i) => {
          const angle = p * 10_000 ** (-(i - i % 2) / this.width);
          return Math.fround(i % 2 ? Math.cos(angle) : Math.sin(angle));
        }));
    }

    forward(ids, length, offset = 0) {
      const { width, table: { data } } = this, scale = Math.sqrt(width);
      const x = this.room("x", ids.length * width);
      for (let r = 0; r < ids.length; r++) {
        const place = this.place(offset + r % length), from = ids[r] * width;
        for (let i = 0; i < width; i++) {
          x[r * width + i] = scale * data[from + i]
            + (this.change.positions ? place[i] : 0);
        }
      }
      return x;
    }

    backward(dx, ids) {
      const { width } = this, scale = Math.sqrt(width);
      const grad = gradient(this.table);
      for (let r = 0; r < ids.length; r++) {
        if (ids[r] === this.pad) continue; // its row stays as it is
        for (let i = 0; i < width; i++) {
          grad[ids[r] * width + i] += scale * dx[r * width + i];
        }
      }
    }
  }

  class LayerNorm extends Module {
    constructor(weights, name, width) {
      super();
      this.width = width;
      this.weight = take(weights, `${name}.weight`, width);
      this.bias = take(weights, `${name}.bias`, width);
    }

    forward(x, rows) {
      const { width, weight: { data: gain }, bias: { data: bias } } = this;
      const y = this.room("y", rows * width);
      const scales = this.room("scales", rows);
      const normed = this.room("normed", rows * width);
      for (let r = 0, at = 0; r < rows; r++, at += width) {
        let mean = 0, squares = 0;
        for (let i = 0; i < width; i++) mean += x[at + i];
        mean /= width;
        for (let i = 0; i < width; i++) squares += (x[at + i] - mean) ** 2;
        const scale = scales[r] = 1 / Math.sqrt(squares / width + 1e-5);
        for (let i = 0; i < width; i++) {
          normed[at + i] = (x[at + i] - mean) * scale;
          y[at + i] = normed[at + i] * gain[i] + bias[i];
        }
      }
      return y;
    }

    backward(dy, rows) {
      const { width, weight, bias, rooms: { normed, scales } } = this;
      const dx = this.room("dx", rows * width), gain = weight.data;
      const dGain = gradient(weight), dBias = gradient(bias);
      for (let r = 0, at = 0; r < rows; r++, at += width) {
        let mean = 0, along = 0;
        for (let i = 0; i < width; i++) {
          const d = dy[at + i], z = normed[at + i];
          dGain[i] += d * z;
          dBias[i] += d;
          mean += d * gain[i];
          along += d * gain[i] * z;
        }
        mean /= width;
        along /= width;
        for (let i = 0; i < width; i++) {
          dx[at + i] = scales[r]
            * (dy[at + i] * gain[i] - mean - normed[at + i] * along);
        }
      }
      return dx;
    }
  }

  /** Norm(x + f(x)), or with norm_first x + f(Norm(x)). Where f is taken
   * away (null), x goes by. */
  class Residual extends Module {
    constructor(weights, name, { d_model, norm_first }, change) {
      super();
      Object.assign(this, { width: d_model, first: norm_first, change });
      this.norm = new LayerNorm(weights, `${name}.norm`, d_model);
    }

    forward(x, rows, f) {
      const { first, change: { norm, residual } } = this;
      let y = x;
      if (f) {
        y = f(norm && first ? this.norm.forward(x, rows) : x);
        if (residual) y = this.sum("y", x, y, rows * this.width);
      }
      return norm && !first ? this.norm.forward(y, rows) : y;
    }

    backward(dy, rows, f) {
      const { first, change: { norm, residual } } = this;
      const d = norm && !first ? this.norm.backward(dy, rows) : dy;
      if (!f) return d;
      let dx = f(d);
      if (norm && first) dx = this.norm.backward(dx, rows);
      return residual ? this.sum("dx", d, dx, rows * this.width) : dx;
    }
  }

  class FeedForward extends Module {
    constructor(weights, name, { d_model, d_ff }) {
      super();
      this.widen = new Linear(weights, `${name}.widen`, d_model, d_ff);
      this.narrow = new Linear(weights, `${name}.narrow`, d_ff, d_model);
    }

    forward(x, rows) {
      this.x = x;
      const hidden = this.hidden = this.widen.forward(x, rows);
      for (let i = 0; i < rows * this.widen.outputs; i++) {
        if (hidden[i] < 0) hidden[i] = 0;
      }
      return this.narrow.forward(hidden, rows);
    }

    backward(dy, rows) {
      const { hidden } = this, d = this.narrow.backward(dy, hidden, rows);
      for (let i = 0; i < rows * this.widen.outputs; i++) {
        if (hidden[i] === 0) d[i] = 0;
      }
      return this.widen.backward(d, this.x, rows);
    }
  }

  class MultiHeadAttention extends Module {
    constructor(weights, name, { d_model: D, heads }, change) {
      super();
      if (D % heads) throw new Error(`d_model ${D} in ${heads} heads?`);
      Object.assign(this, { name, D, heads, change });
      this.in_proj = new Linear(weights, `${name}.in_proj`, D, 3 * D);
      this.out_proj = new Linear(weights, `${name}.out_proj`, D, D);
    }

    keysAndValues(source, rows) {
      return this.in_proj.forward(source, rows, this.D, 2 * this.D);
    }

    /** shape: {batch, queries, keys}. source: who answers, or else x itself;
     * kv: its keys and values, where they are known. */
    forward(x, shape, may, source = x, kv = null) {
      const { D, heads, change } = this, { batch, queries, keys } = shape;
      const q = this.in_proj.forward(x, batch * queries, 0, D);
      this.of = { ...shape, x, source, q, heads, D, may,
        kv: kv ?? this.keysAndValues(source, batch * keys),
        root: change.scale ? Math.sqrt(D / heads) : 1, choice: change.choice,
        silent: Array.from({ length: heads }, (_, h) =>
          change.silent.includes(`${this.name}.${h}`)) };
      this.weights = this.room("w", batch * heads * queries * keys);
      this.context = this.room("context", batch * queries * D);
      attend(this.of, this.weights, this.context);
      return this.out_proj.forward(this.context, batch * queries);
    }

    /** dx; if there is a source of its own, its gradient is added. */
    backward(dy, dSource) {
      const { D, of, in_proj: into } = this, { batch, queries, keys } = of;
      const asked = batch * queries, answer = batch * keys;
      const dContext = this.out_proj.backward(dy, this.context, asked);
      const dq = this.zeros("dq", asked * D);
      const dkv = this.zeros("dkv", answer * 2 * D);
      attendBack(of, this.weights, dContext, dq, dkv);
      const dx = into.backward(dq, of.x, asked, 0, D);
      const more = into.backward(dkv, of.source, answer, D, 2 * D);
      const sum = of.source === of.x ? dx : dSource;
      for (let i = 0; i < answer * D; i++) sum[i] += more[i];
      return dx;
    }

    /** Of the first row of a batch, each head's table of weights. */
    look() {
      if (!this.change.attention) return [];
      const { heads, of: { queries, keys }, weights } = this;
      return Array.from({ length: heads }, (_, h) =>
        Array.from({ length: queries }, (_row, i) => {
          const at = (h * queries + i) * keys;
          return weights.slice(at, at + keys);
        }));
    }
  }

  /** Attentions and a feed-forward network, each inside a residual. */
  class Block extends Module {
    constructor(weights, name, config, change, attentions) {
      super();
      this.change = change;
      const around = (part) => this[`around_${part}`] =
        new Residual(weights, `${name}.around_${part}`, config, change);
      for (const part of attentions) {
        this[part] = new MultiHeadAttention(weights, `${name}.${part}`,
          config, change);
        around(part);
      }
      this.feed_forward = new FeedForward(weights, `${name}.feed_forward`,
        config);
      around("feed_forward");
    }

    attend(part, x, shape, ...rest) {
      return this[`around_${part}`].forward(x, shape.batch * shape.queries,
        this.change.attention &&
          ((y) => this[part].forward(y, shape, ...rest)));
    }

    attendBack(part, dy, dSource) {
      const { batch, queries } = this.shape;
      return this[`around_${part}`].backward(dy, batch * queries,
        this.change.attention && ((d) => this[part].backward(d, dSource)));
    }

    think(x, rows) {
      return this.around_feed_forward.forward(x, rows,
        this.change.feed_forward &&
          ((y) => this.feed_forward.forward(y, rows)));
    }

    thinkBack(dy) {
      const rows = this.shape.batch * this.shape.queries;
      return this.around_feed_forward.backward(dy, rows,
        this.change.feed_forward &&
          ((d) => this.feed_forward.backward(d, rows)));
    }
  }

  class EncoderBlock extends Block {
    constructor(weights, name, config, change) {
      super(weights, name, config, change, ["attention"]);
    }

    forward(x, shape, may) {
      this.shape = shape;
      const y = this.attend("attention", x, shape, may);
      return this.think(y, shape.batch * shape.queries);
    }

    backward(dy) {
      return this.attendBack("attention", this.thinkBack(dy));
    }
  }

  class DecoderBlock extends Block {
    constructor(weights, name, config, change) {
      super(weights, name, config, change,
        ["self_attention", "cross_attention"]);
    }

    /** shape: that of the self-attention; source: {memory, keys, may} and,
     * where they are known, its keys and values `kv`; past: keys and values
     * of what was written before, where that is kept. */
    forward(x, shape, may, { memory, keys, may: seen, kv }, past) {
      this.shape = shape;
      const look = (y) => {
        if (!past) return this.self_attention.forward(y, shape, may);
        this.own = new Float64Array(shape.keys * 2 * this.self_attention.D);
        this.own.set(past);
        this.own.set(this.self_attention.keysAndValues(y, shape.queries)
          .subarray(0, this.own.length - past.length), past.length);
        return this.self_attention.forward(y, shape, may, y, this.own);
      };
      const { batch, queries } = shape;
      let y = this.around_self_attention.forward(x, batch * queries,
        this.change.attention && look);
      y = this.attend("cross_attention", y, { batch, queries, keys }, seen,
        memory, kv);
      return this.think(y, batch * queries);
    }

    backward(dy, dMemory) {
      const d = this.attendBack("cross_attention", this.thinkBack(dy),
        dMemory);
      return this.attendBack("self_attention", d);
    }
  }

  /** Blocks one after the other, and a last norm where there is one. */
  class Stack extends Module {
    constructor(weights, name, kind, count, config, change) {
      super();
      const { norm_first, final_norms, d_model } = config;
      this.change = change;
      this.blocks = Array.from({ length: count }, (_, n) =>
        new kind(weights, `${name}.blocks.${n}`, config, change));
      if (final_norms ?? norm_first) {
        this.norm = new LayerNorm(weights, `${name}.norm`, d_model);
      }
    }

    forward(x, shape, each) {
      this.rows = shape.batch * shape.queries;
      const y = this.blocks.reduce(each, x);
      return this.ends ? this.norm.forward(y, this.rows) : y;
    }

    backward(dy, ...rest) {
      const d = this.ends ? this.norm.backward(dy, this.rows) : dy;
      return this.blocks.reduceRight((d, block) =>
        block.backward(d, ...rest), d);
    }

    get ends() { return this.norm && this.change.norm; }
  }

  // --- Models

  const table = (batch, queries, keys, may) => Uint8Array.from(
    { length: batch * queries * keys }, (_, at) => {
      const j = at % keys, i = Math.floor(at / keys) % queries;
      return may(Math.floor(at / (queries * keys)), i, j);
    });

  /** What all models have: weights, a config, and what is taken away. */
  class Model extends Module {
    constructor(config, weights = {}, change = {}) {
      super();
      const { activation = "relu", dropout = 0, pad_id } = config;
      if (activation !== "relu" || dropout) {
        throw new Error("the page knows relu only, and no dropout");
      }
      for (const name of Object.keys(change)) {
        if (!(name in INTACT)) throw new Error(`there is no part ${name}`);
      }
      Object.assign(this, { config, weights, pad: pad_id ?? -1 });
      this.change = { ...INTACT, ...change };
    }

    /** The same weights, and something taken away. */
    changed(change) {
      return new this.constructor(this.config, this.weights, change);
    }

    /** Who may look at whom; null hides nothing. offset: queries before. */
    mask(ids, batch, queries, keys, causal, offset = 0) {
      const { pad, change } = this;
      const hides = change.padding && ids?.includes(pad);
      const waits = causal && change.causal;
      return hides || waits ? table(batch, queries, keys, (n, i, j) =>
        !(hides && ids[n * keys + j] === pad) && !(waits && j > offset + i))
        : null;
    }

    /** The mean loss of a batch, and the gradient of every weight. */
    backward(batch) {
      for (const weight of Object.values(this.weights)) {
        gradient(weight).fill(0);
      }
      const logits = this.forward(batch);
      const loss = crossEntropy(logits, batch.answers, this.vocab);
      this.back(logits, batch);
      return loss;
    }
  }

  /** Chapter 8's: embedding, encoder, a matrix. With `causal` in its config
   * it is a decoder that looks back, as a GPT. config: vocab_size, d_model,
   * heads, d_ff, layers; as they are needed norm_first, final_norms, pad_id,
   * causal. */
  class NumberModel extends Model {
    constructor(config, weights, change) {
      super(config, weights, change);
      const { vocab_size: vocab, d_model, layers } = config;
      this.vocab = vocab;
      this.embedding = new Embedding(this.weights, "embedding", vocab, config,
        this.change);
      this.encoder = new Stack(this.weights, "encoder", EncoderBlock, layers,
        config, this.change);
      this.output = new Linear(this.weights, "output", d_model, vocab);
    }

    /** Logits; source: the ids of `batch` rows, one behind the other. */
    forward({ source, batch }) {
      const length = source.length / batch;
      const shape = { batch, queries: length, keys: length };
      const may = this.mask(source, batch, length, length,
        this.config.causal);
      this.x = this.encoder.forward(this.embedding.forward(source, length),
        shape, (x, block) => block.forward(x, shape, may));
      return this.output.forward(this.x, source.length);
    }

    back(dLogits, { source }) {
      const d = this.output.backward(dLogits, this.x, source.length);
      this.embedding.backward(this.encoder.backward(d), source);
    }

    /** Of each block, the tables of its heads, for the first row. */
    looks() {
      return this.encoder.blocks.map((block) => block.attention.look());
    }
  }

  /** Chapter 10's. config: a TransformerConfig as JSON has it. */
  class Transformer extends Model {
    constructor(config, weights, change) {
      super(config, weights, change);
      const { d_model, tied = "target", encoder_layers, decoder_layers,
        source_vocab_size: reads, target_vocab_size: writes } = config;
      this.vocab = writes;
      const embedding = (side, vocab) => new Embedding(this.weights,
        `tables.${side}`, vocab, config, this.change);
      this.target = embedding("target", writes);
      this.source = embedding(tied === "all" ? "target" : "source", reads);
      const stack = (name, kind, layers) => new Stack(this.weights, name,
        kind, layers, config, this.change);
      this.encoder = stack("encoder", EncoderBlock, encoder_layers);
      this.decoder = stack("decoder", DecoderBlock, decoder_layers);
      this.output = new Linear(this.weights,
        tied === "none" ? "tables.output" : "tables.target.table", d_model,
        writes, false);
    }

    read(source, batch) {
      const keys = source.length / batch;
      const may = this.mask(source, batch, keys, keys);
      const memory = this.encoder.forward(this.source.forward(source, keys),
        { batch, queries: keys, keys },
        (x, block) => block.forward(x, { batch, queries: keys, keys }, may));
      return { memory, keys };
    }

    forward({ source, target, batch }) {
      const read = this.read(source, batch), length = target.length / batch;
      const shape = { batch, queries: length, keys: length };
      const may = this.mask(target, batch, length, length, true);
      read.may = this.mask(source, batch, 1, read.keys);
      read.may &&= table(batch, length, read.keys, (n, _, j) =>
        read.may[n * read.keys + j]);
      this.x = this.decoder.forward(this.target.forward(target, length),
        shape, (x, block) => block.forward(x, shape, may, read));
      return this.output.forward(this.x, target.length);
    }

    back(dLogits, { source, target }) {
      const d = this.output.backward(dLogits, this.x, target.length);
      const dMemory = this.zeros("dMemory",
        source.length * this.config.d_model);
      this.target.backward(this.decoder.backward(d, dMemory), target);
      this.source.backward(this.encoder.backward(dMemory), source);
    }

    // One sentence, token after token. What is returned is nobody else's.

    /** The memory of a source, and the weights of the last block's heads. */
    encode(source) {
      const { memory } = this.read(source, 1);
      const vectors = memory.slice(0, source.length * this.config.d_model);
      return { vectors, ids: source,
        encoder: this.encoder.blocks.at(-1).attention.look() };
    }

    /** The cache of a decoder that has written nothing. */
    begin(memory) {
      const keys = memory.ids.length, { blocks } = this.decoder;
      return { memory, ids: [], own: blocks.map(() => new Float64Array()),
        given: blocks.map(({ cross_attention: cross }) =>
          cross.keysAndValues(memory.vectors, keys)
            .slice(0, 2 * cross.D * keys)) };
    }

    /** New positions after those of a cache, which stays as it is: their
     * logits, the weights of the last block's heads, and a cache that has
     * them too. */
    extend(cache, ids) {
      const { memory, given } = cache, old = cache.ids.length;
      const all = [...cache.ids, ...ids], { blocks } = this.decoder;
      const keys = memory.ids.length, queries = ids.length;
      const shape = { batch: 1, queries, keys: all.length };
      const seen = this.mask(Array(queries).fill(memory.ids).flat(), queries,
        1, keys);
      const may = this.mask(null, 1, queries, all.length, true, old);
      const x = this.decoder.forward(this.target.forward(ids, queries, old),
        shape, (y, block, n) => block.forward(y, shape, may,
          { memory: memory.vectors, keys, may: seen, kv: given[n] },
          cache.own[n]));
      const logits = this.output.forward(x, queries), { vocab } = this;
      const { self_attention: self, cross_attention: cross } = blocks.at(-1);
      return {
        logits: ids.map((_, t) => logits.slice(t * vocab, (t + 1) * vocab)),
        self: self.look(), cross: cross.look(),
        cache: { ...cache, ids: all,
          own: blocks.map(({ own }) => own ?? new Float64Array()) } };
    }

    /** All positions at once, as Transformer.decode; BOS comes first. */
    decode(memory, ids) {
      return this.extend(this.begin(memory), ids);
    }

    /** One position more. Without the causal mask it changes what those
     * before it see, so that nothing can be kept. */
    step(cache, id) {
      if (this.change.causal) return this.extend(cache, [id]);
      return this.decode(cache.memory, [...cache.ids, id]);
    }

    /** log p of the next token. PAD and BOS are never written. */
    logP({ logits }) {
      const row = logits.at(-1).slice();
      row[this.config.pad_id] = row[this.config.bos_id] = -Infinity;
      return Array.from(softmax(row), Math.log);
    }

    /** Token after token until EOS; `choose` gets log p and the place. */
    *write(memory, limit, choose = likeliest) {
      const { bos_id: bos, eos_id: eos } = this.config;
      let cache = this.begin(memory);
      for (let n = 0, token = bos; n < limit && token !== eos; n++) {
        const step = this.step(cache, token);
        cache = step.cache;
        const logP = this.logP(step);
        token = choose(logP, n);
        yield { ...step, logP, token };
      }
    }
  }

  const likeliest = (logP) => logP.indexOf(Math.max(...logP));

  globalThis.Engine = { NumberModel, Transformer, readSafetensors, refuse,
    writeSafetensors, softmax };
})();
