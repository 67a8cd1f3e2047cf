"use strict";
// The date model of chapter 11, asked in the page. Its weights come in a
// script of their own, date_model.js, when a reader wants them, and with them
// the rule that says whether an answer is to be trusted, date-rule.js.
(() => {
  if (globalThis.LiveDates) return;
  const { h } = globalThis.Explorer;
  const { Transformer, readSafetensors, refuse, softmax } =
    globalThis.Engine;
  const here = document.currentScript?.src;
  const ALPHA = 0.6; // the length penalty of beams
  const LIMIT = 16; // tokens, where a broken model does not stop
  const loading = {};

  const bytes = (base64) =>
    Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer;

  /** What a script of this folder defines, asked for once. */
  function fetched(file, name) {
    if (globalThis[name]) return globalThis[name];
    const failed = "The model's file could not be loaded.";
    loading[file] ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.addEventListener("load", () => resolve(globalThis[name]));
      script.addEventListener("error", () => {
        loading[file] = null; // so that the next press tries again
        reject(new Error(failed));
      });
      script.src = new URL(file, here || document.baseURI);
      document.head.append(script);
    });
    return loading[file];
  }

  class LiveDates {
    /** The book's own model; `also`: files that define what else is needed. */
    static async load(also = {}) {
      const files = { dateModel: "date_model.js", ...also };
      const [{ card, weights }] = await Promise.all(
        Object.entries(files).map(([name, file]) => fetched(file, name)));
      return new LiveDates(card, readSafetensors(bytes(weights)));
    }

    /** A field for a date, and what sends it; `offer` says what that loads. */
    static form(kilobytes, ask) {
      const field = h("input", { type: "text", spellcheck: "false",
        autocomplete: "off", "aria-label": "A date in words" });
      const send = h("button");
      const form = h("form", { onsubmit: (event) => {
        event.preventDefault();
        ask(field.value);
      } }, field, send);
      const offer = globalThis.dateModel ? "Ask it"
        : `Ask it (loads ${kilobytes} kB)`;
      return { form, field, send, offer };
    }

    constructor(card, weights) {
      this.card = card;
      this.model = new Transformer(card.config, weights);
    }

    /** With the weights of a file, as chapter 11 saves them: those of a
     * model, or a checkpoint, of which it takes the running mean. */
    withFile(buffer) {
      const found = readSafetensors(buffer);
      const parts = ["average.", "model.", ""];
      const part = parts.find((p) => `${p}tables.target.table.weight` in found);
      if (part === undefined) throw new Error("It holds no Transformer.");
      const own = Object.fromEntries(Object.entries(found)
        .filter(([name]) => name.startsWith(part))
        .map(([name, tensor]) => [name.slice(part.length), tensor]));
      refuse(own, this.model.weights);
      return new LiveDates(this.card, own);
    }

    /** The characters and ids of a text that DateRule has made plain. */
    read(text, pads = 0) {
      const chars = [...text];
      const known = new Map(this.card.source.map((c, id) => [c, id]));
      const unk = known.get("<unk>");
      const ids = chars.map((c) => known.get(c) ?? unk);
      const unknown = [...new Set(chars.filter((_, i) => ids[i] === unk))];
      const room = this.card.config.max_length;
      let problem = chars.length ? "" : "Type a date.";
      if (chars.length > room) problem = `At most ${room} characters.`;
      const filled = Math.max(0, Math.min(pads, room - chars.length));
      return {
        chars: [...chars, ...Array(filled).fill("<pad>")],
        ids: [...ids, ...Array(filled).fill(this.card.config.pad_id)],
        unknown, problem,
      };
    }

    /** What it writes, and all that is to be seen meanwhile. */
    ask({ chars, ids }, { change, width, picked }) {
      const model = this.model.changed(change), { target } = this.card;
      const memory = model.encode(ids);
      const beams = width > 1 ? [...globalThis.beamSearch(
        this.next(ids, model, memory), model.config.eos_id,
        { width, alpha: ALPHA, limit: LIMIT, shown: width })].at(-1) : [];
      const chosen = beams[picked]?.ids;
      const choose = chosen && ((_, n) => chosen[n]);
      const limit = chosen ? chosen.length : LIMIT;
      const steps = [...model.write(memory, limit, choose)];
      const tokens = steps.map((step) => step.token);
      const given = [model.config.bos_id, ...tokens.slice(0, -1)];
      const whole = model.decode(memory, given);
      return {
        chars, beams,
        tokens: tokens.map((id) => target[id]),
        atOnce: whole.logits.map((row) => target[row.indexOf(Math.max(...row))]),
        tops: steps.map((step) => this.top(step)),
        sure: steps.map((step) => this.likely(step)[step.token]),
        cross: whole.cross, self: whole.self, encoder: memory.encoder,
      };
    }

    /** For beamSearch: log p after some tokens, and the cache with them. */
    next(ids, model = this.model, memory = model.encode(ids)) {
      return (written, cache) => {
        const step = cache ? model.step(cache, written.at(-1))
          : model.step(model.begin(memory), model.config.bos_id);
        return [model.logP(step), step.cache];
      };
    }

    likely({ logits }) {
      return softmax(logits.at(-1).slice());
    }

    top(step, most = 5) {
      return Array.from(this.likely(step), (p, id) => [this.card.target[id], p])
        .sort((a, b) => b[1] - a[1]).slice(0, most);
    }

    text(ids) {
      const { target, config } = this.card;
      const silent = [config.pad_id, config.bos_id, config.eos_id];
      return ids.filter((id) => !silent.includes(id))
        .map((id) => target[id]).join("");
    }
  }

  globalThis.LiveDates = LiveDates;
})();
