// Runs in a page that has nothing but the engine: its model, and all that it
// tells of a source, with something taken away.
globalThis.bytes = (text) =>
  Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
globalThis.add = ([text, config]) => {
  const weights = Engine.readSafetensors(bytes(text));
  globalThis.model = new Engine.Transformer(weights, config);
};
globalThis.tell = ([source, target, change, limit]) => {
  const model = globalThis.model.changed(change);
  const memory = model.encode(source);
  const plain = (x) => ArrayBuffer.isView(x) ? [...x]
    : Array.isArray(x) ? x.map(plain) : x;
  const whole = model.decode(memory, target);
  let cache = model.begin(memory);
  const stepped = target.map((id) => {
    const step = model.step(cache, id);
    cache = step.cache;
    return plain(step.logits).at(-1);
  });
  return {
    written: [...model.write(memory, limit)].map(({ token }) => token),
    stepped,
    tensors: { logits: plain(whole.logits), self: plain(whole.self),
      cross: plain(whole.cross), encoder: plain(memory.encoder) },
  };
};
