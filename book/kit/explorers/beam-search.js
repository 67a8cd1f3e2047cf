"use strict";
// Beam search as in lib/beams.py, for one text.
(() => {
  /** Yields a step as a list of beams, the best first. Each has its `ids`,
   * `logP` and `score`; `parent`, the place of the beam it came from; and
   * `kept`. The first `width` are kept, and up to `shown` are yielded.
   *
   * next(ids, state): log p of each token after a beam, and a new state.
   */
  globalThis.beamSearch = function* (next, eos,
    { width, alpha, limit, shown }) {
    const score = (logP, length) => logP / ((5 + length) / 6) ** alpha;
    let beams = [{ ids: [], logP: 0, score: 0, ended: false }];
    const onward = (beam, parent) => {
      if (beam.ended) return [{ ...beam, parent }];
      const [logPs, state] = next(beam.ids, beam.state);
      return logPs.map((more, id) => {
        const ids = [...beam.ids, id], logP = beam.logP + more;
        const ended = id === eos;
        return { ids, logP, score: score(logP, ids.length), ended, state,
          parent };
      }).filter((one) => one.logP > -Infinity);
    };
    for (let n = 0; n < limit && !beams.every((b) => b.ended); n++) {
      const found = beams.flatMap(onward).sort((a, b) => b.score - a.score);
      beams = found.slice(0, width);
      yield found.slice(0, Math.max(width, shown))
        .map((one, place) => ({ ...one, kept: place < width }));
    }
  };
})();
