"use strict";
// The date model, as lib/transformer.py computes it, to be asked in a browser:
// one block in the encoder and one in the decoder, Norm(x + f(x)), tables of
// their own. Weights have the names of its state_dict, parts those of their
// modules. It computes in float64, as date_model() of kit/trained.py does.
(() => {
  if (globalThis.Engine) return;

  // A file of weights: safetensors, in which each number has 2 to 8 bytes.
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

  /** The tensors of a file, {shape, data} by name; integers are left out. */
  function readSafetensors(buffer) {
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

  // A matrix is a list of rows, each a Float64Array; a weight's are in one.

  /** x Wᵀ + b with `cols` rows of W and entries of b, from `first` on. */
  function linear(x, weight, bias, first = 0, cols = weight.shape[0]) {
    const [, width] = weight.shape;
    return x.map((row) => new Float64Array(cols).map((_, c) => {
      let sum = bias ? bias.data[first + c] : 0;
      const at = (first + c) * width;
      for (let i = 0; i < width; i++) sum += row[i] * weight.data[at + i];
      return sum;
    }));
  }

  const total = (row) => row.reduce((sum, v) => sum + v, 0);

  function layerNorm(x, weight, bias) {
    return x.map((row) => {
      const mean = total(row) / row.length;
      const squares = total(row.map((v) => (v - mean) ** 2));
      const root = Math.sqrt(squares / row.length + 1e-5);
      return row.map((v, i) =>
        ((v - mean) / root) * weight.data[i] + bias.data[i]);
    });
  }

  /** In place. An entry of -inf gets 0; a row of nothing else, too. */
  function softmax(row) {
    const most = Math.max(...row);
    if (most === -Infinity) return row.fill(0);
    const exp = row.map((score) => Math.exp(score - most));
    const sum = total(exp);
    row.set(exp.map((e) => e / sum));
    return row;
  }

  /** Where a token stands, as numbers. */
  function sinusoid(place, width) {
    return new Float64Array(width).map((_, i) => {
      const angle = place * 10_000 ** (-(i - i % 2) / width);
      return Math.fround(i % 2 ? Math.cos(angle) : Math.sin(angle));
    });
  }

  /** One head: what each query gives to each key. */
  function weigh(q, k, first, width, root, mayAttend) {
    return q.map((query, i) => softmax(new Float64Array(k.length).map(
      (_, j) => {
        if (!mayAttend(i, j)) return -Infinity;
        let sum = 0;
        for (let c = first; c < first + width; c++) sum += query[c] * k[j][c];
        return sum / root;
      })));
  }

  /** One head: the weighted mean of the values, into its own columns. */
  function mix(weights, v, first, width, context) {
    weights.forEach((row, i) => row.forEach((weight, j) => {
      for (let c = first; c < first + width; c++) {
        context[i][c] += weight * v[j][c];
      }
    }));
  }

  const ENCODER = "encoder.blocks.0", DECODER = "decoder.blocks.0";
  // What can be taken away. `silent` names heads whose context is zero, as
  // "decoder.blocks.0.cross_attention.2".
  const INTACT = { positions: true, scale: true, causal: true, padding: true,
    silent: [] };

  class Transformer {
    /** config: a TransformerConfig as JSON has it. */
    constructor(weights, config, change = {}) {
      Object.assign(this, { weights, config });
      this.change = { ...INTACT, ...change };
    }

    /** The same weights, and something taken away. */
    changed(change) {
      return new Transformer(this.weights, this.config, change);
    }

    of(name) {
      return ["weight", "bias"].map((part) => this.weights[`${name}.${part}`]);
    }

    /** side: "source" or "target"; offset: the first position. */
    embed(ids, side, offset = 0) {
      const width = this.config.d_model;
      const [table] = this.of(`tables.${side}.table`);
      return ids.map((id, t) => {
        const place = sinusoid(offset + t, width);
        return table.data.slice(id * width, (id + 1) * width).map((v, i) =>
          Math.sqrt(width) * v + (this.change.positions ? place[i] : 0));
      });
    }

    /** Norm(x + y), where y is what a part made of x. */
    around(name, x, y) {
      const sum = x.map((row, r) => row.map((v, i) => v + y[r][i]));
      return layerNorm(sum, ...this.of(`${name}.norm`));
    }

    feedForward(x, block) {
      const name = `${block}.feed_forward`;
      const hidden = linear(x, ...this.of(`${name}.widen`))
        .map((row) => row.map((v) => Math.max(0, v)));
      return this.around(`${block}.around_feed_forward`, x,
        linear(hidden, ...this.of(`${name}.narrow`)));
    }

    /** Q, K or V: the part 0, 1 or 2 of an attention's in_proj. */
    project(x, name, part) {
      const width = this.config.d_model;
      return linear(x, ...this.of(`${name}.in_proj`), part * width, width);
    }

    keysAndValues(x, name) {
      return [1, 2].map((part) => this.project(x, name, part));
    }

    /** Norm(x + attention(x)), and the weights of its heads. */
    attend(x, [k, v], block, kind, mayAttend) {
      const name = `${block}.${kind}`, { heads, d_model } = this.config;
      const q = this.project(x, name, 0), width = d_model / heads;
      const context = q.map(() => new Float64Array(d_model));
      const root = this.change.scale ? Math.sqrt(width) : 1;
      const weights = Array.from({ length: heads }, (_, head) => {
        const args = [head * width, width];
        const rows = weigh(q, k, ...args, root, mayAttend);
        const silent = this.change.silent.includes(`${name}.${head}`);
        if (!silent) mix(rows, v, ...args, context);
        return rows;
      });
      const out = linear(context, ...this.of(`${name}.out_proj`));
      return [this.around(`${block}.around_${kind}`, x, out), weights];
    }

    /** The memory of a source, and the weights of the encoder's heads. */
    encode(source) {
      const sees = (_, j) =>
        !this.change.padding || source[j] !== this.config.pad_id;
      const x = this.embed(source, "source");
      const [y, encoder] = this.attend(x,
        this.keysAndValues(x, `${ENCODER}.attention`), ENCODER, "attention",
        sees);
      return { vectors: this.feedForward(y, ENCODER), sees, encoder };
    }

    /** The cache of a decoder that has written nothing. */
    begin(memory) {
      return { memory, ids: [], own: [[], []], given:
        this.keysAndValues(memory.vectors, `${DECODER}.cross_attention`) };
    }

    /** New positions after those of a cache, which stays as it is: their
     * logits, the weights of all heads, and a cache that has them too. */
    extend(cache, ids) {
      const { memory, given } = cache, old = cache.ids.length;
      const past = (i, j) => !this.change.causal || j <= old + i;
      const x = this.embed(ids, "target", old);
      const added = this.keysAndValues(x, `${DECODER}.self_attention`);
      const own = cache.own.map((rows, n) => [...rows, ...added[n]]);
      const [y, self] = this.attend(x, own, DECODER, "self_attention", past);
      const [z, cross] = this.attend(y, given, DECODER, "cross_attention",
        memory.sees);
      const logits = linear(this.feedForward(z, DECODER),
        ...this.of("tables.output"));
      return { logits, self, cross,
        cache: { ...cache, ids: [...cache.ids, ...ids], own } };
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

  globalThis.Engine = { Transformer, readSafetensors, softmax };
})();
