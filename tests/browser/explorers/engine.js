// Runs in a page that has nothing but the engine: its models, and all that
// one of them tells of a source, with something taken away.
globalThis.models = {};
globalThis.bytes = (text) =>
  Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
globalThis.add = ([name, text, config]) => {
  const weights = Engine.readSafetensors(bytes(text));
  models[name] = new Engine.Transformer(weights, config);
};
globalThis.tell = ([name, source, target, change, beams, limit]) => {
  const model = models[name].changed(change);
  const memory = model.encode(source);
  const plain = (x) => ArrayBuffer.isView(x) ? [...x]
    : Array.isArray(x) ? x.map(plain) : x;
  const rows = ({ data, cols }) => Array.from({ length: data.length / cols },
    (_, r) => [...data.slice(r * cols, (r + 1) * cols)]);
  const whole = model.decode(memory, target);
  let cache = model.begin(memory);
  const stepped = target.map((id) => {
    const step = model.step(cache, id);
    cache = step.cache;
    return rows(step.logits).at(-1);
  });
  const next = (ids, kept) => {
    const step = kept ? model.step(kept, ids.at(-1))
      : model.step(model.begin(memory), model.config.bos_id);
    return [model.logP(step), step.cache];
  };
  const steps = [...beamSearch(next, model.config.eos_id,
    { ...beams, limit })];
  return {
    written: [...model.write(memory, limit)].map(({ token }) => token),
    beams: steps.at(-1).map(({ ids, logP, score }) => [ids, logP, score]),
    stepped,
    tensors: { logits: rows(whole.logits), self: plain(whole.self),
      cross: plain(whole.cross), encoder: plain(memory.encoder) },
  };
};
