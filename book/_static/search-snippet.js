// A line or two of a section that show why it was found.
"use strict";

globalThis.SearchSnippet = (() => {
  const LENGTH = 30; // words and punctuation marks
  const BEFORE = 8; // of these may stand before the first word that was found
  const END = /[.?!]$/;

  // Where a snippet can begin: at a sentence, or inside a long one.
  function starts(words, found) {
    const list = [0];
    words.forEach((word, i) => {
      const isNew = i && END.test(words[i - 1]) && word.startsWith(" ");
      if (isNew) list.push(i);
      else if (found[i] && i - list.at(-1) > LENGTH - BEFORE) {
        list.push(i - BEFORE);
      }
    });
    return list;
  }

  // How much of what was asked a snippet shows that begins here.
  function worth(start, found, used) {
    const seen = new Map();
    for (const stem of found.slice(start, start + LENGTH).flat()) {
      seen.set(stem, used.get(stem));
    }
    return [...seen.values()].reduce((sum, value) => sum + value, 0);
  }

  function best(words, found, used) {
    let [at, most] = [0, 0];
    for (const start of starts(words, found)) {
      const value = worth(start, found, used);
      if (value > most * 1.001) [at, most] = [start, value];
    }
    return at;
  }

  // Neighbours become one piece; a space is no part of a mark.
  function pieces(words, found) {
    const list = [];
    const add = (text, mark) => {
      if (list.at(-1)?.mark === mark) list.at(-1).text += text;
      else if (text) list.push({ text, mark });
    };
    words.forEach((word, i) => {
      const mark = found[i].length > 0;
      if (mark && word.startsWith(" ")) add(" ", false);
      add(mark ? word.trimStart() : word, mark);
    });
    return list;
  }

  // `found` has for each word the stems that were asked for.
  function cut(words, found, used) {
    const start = best(words, found, used);
    const end = Math.min(words.length, start + LENGTH);
    const list = pieces(words.slice(start, end), found.slice(start, end));
    if (!list.length) return list;
    const isMiddle = start && !END.test(words[start - 1]);
    list[0].text = (isMiddle ? "… " : "") + list[0].text.trimStart();
    if (end < words.length) list.push({ text: " …", mark: false });
    return list;
  }

  return { cut, pieces };
})();
