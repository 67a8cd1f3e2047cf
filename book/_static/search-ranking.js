// Finds sections of the book: reads the index and ranks what fits a query; it
// knows nothing of the page that shows the results.
"use strict";

globalThis.BookSearch = (() => {
  const { FILLER, STOP, parts, split, stems, telling, whole } = SearchWords;
  // A word with the space before it, or a mark: what snippets are cut from.
  const TOKEN = / ?[\p{L}\p{N}]+(?:[-_'’][\p{L}\p{N}]+)*|./gsu;
  // Of a title, its terms, what else is bold, the text, what strangers type,
  // the page's title.
  const WEIGHTS = [7, 6, 2, 1, 5, 2];
  const EVENNESS = [0.5, 0.2, 0.2, 0.6, 0.1, 0.2]; // how much length matters
  const ASKED = 4; // the field of what strangers type
  const SATURATION = 4;
  const RESULTS = 50;
  const WEAK = 0.1; // of the best score
  const LITTLE = 0.15; // what a word of every question counts
  const LENGTH = 30; // of a snippet, in words and punctuation marks
  const BEFORE = 8; // of these may stand before the first word that was found
  const END = /[.?!]$/;

  const line = (list) => ` ${list.join(" ")} `;
  const phrase = (text) => line(telling(split(text).flatMap(parts)));
  const plainly = (text) => line(telling(split(text).map(whole)));
  const oneWord = (text) => plainly(text).replaceAll(" ", "");

  // Do two words differ in one letter, or in two that are exchanged?
  function alike(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    const same = (x, y) => a.slice(i + x) === b.slice(i + y);
    const swapped = a[i] === b[i + 1] && a[i + 1] === b[i] && same(2, 2);
    return same(1, 1) || same(1, 0) || same(0, 1) || swapped;
  }

  // Where a snippet can begin: at a sentence, or inside a long one.
  function starts(words, found) {
    const list = [0];
    words.forEach((word, i) => {
      const isNew = i && END.test(words[i - 1]) && word.startsWith(" ");
      if (isNew) list.push(i);
      else if (found[i].length && i - list.at(-1) > LENGTH - BEFORE) {
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

  class Index {
    constructor({ pages, sections, aliases }) {
      this.stems = new Map();
      this.sections = sections.map(([page, anchor, weight, ...texts]) => {
        const fields = texts.map((text) => text.match(TOKEN) || []);
        for (const word of new Set(fields.flat())) {
          if (!this.stems.has(word)) this.stems.set(word, stems(word));
        }
        const [title, terms, , , asked] = texts;
        const [url, label] = pages[page];
        const names = [title, ...terms.split("; "), ...asked.split(", ")];
        return { url, label, anchor, weight, fields, texts, names };
      });
      this.aliases = Object.entries(aliases).flatMap(([name, called]) => {
        const forms = new Set([plainly(name), phrase(name)]);
        return [...forms].map((form) => ({ form, name, called }));
      });
      const forms = this.aliases.map(({ form }) => form.trim().split(" "));
      this.typed = new Set(forms.flat());
      this.post();
      this.spell();
      this.settle();
    }

    // An entry of the glossary is at home where the book has its term in bold.
    settle() {
      const bold = new Map();
      const entries = [];
      const listed = (text) => text.toLowerCase().split("; ").filter(Boolean);
      this.sections.forEach(({ anchor, texts }, id) => {
        const [, terms, others] = texts.map(listed);
        if (anchor.startsWith("term-")) return entries.push([id, terms]);
        for (const name of [...terms, ...others]) {
          if (!bold.has(name)) bold.set(name, []);
          bold.get(name).push(id);
        }
      });
      this.homes = new Map();
      for (const [id, names] of entries) {
        const homes = names.flatMap((name) => bold.get(name) || []);
        if (homes.length) this.homes.set(id, homes);
      }
    }

    // In which sections each word stands, and how much it means there: more
    // where few others stand.
    post() {
      const stemsOf = (field) => field.flatMap((word) => this.stems.get(word));
      const lists = this.sections.map(({ fields, label }) => {
        return [...fields.map(stemsOf), split(label).flatMap(stems)];
      });
      const usual = WEIGHTS.map((_, f) => {
        const all = lists.reduce((sum, list) => sum + list[f].length, 1);
        return all / lists.length;
      });
      this.postings = new Map();
      this.said = new Set(); // what the book has, not only strangers
      lists.forEach((list, id) => {
        const here = new Map();
        list.forEach((field, f) => {
          const length = 1 + EVENNESS[f] * (field.length / usual[f] - 1);
          const weight = WEIGHTS[f] / length;
          for (const stem of field) {
            if (f !== ASKED) this.said.add(stem);
            here.set(stem, (here.get(stem) || 0) + weight);
          }
        });
        for (const [stem, weight] of here) {
          if (!this.postings.has(stem)) this.postings.set(stem, []);
          this.postings.get(stem).push([id, weight]);
        }
      });
    }

    // As a reader would write each word, for addresses and against slips.
    spell() {
      this.known = [...this.postings.keys()];
      this.spelled = new Map();
      const typed = this.aliases.map(({ name }) => name);
      for (const word of [...this.stems.keys(), ...typed].flatMap(split)) {
        const stem = whole(word);
        if (!this.spelled.has(stem)) this.spelled.set(stem, word.toLowerCase());
      }
    }

    rarity(word) {
      const known = this.postings.get(word)?.length || 0;
      return Math.log(1 + (this.sections.length - known + 0.5) / (known + 0.5));
    }

    // The query as it stands, and as the book would say it. `missing` gets what
    // the book does not have, with what it has instead.
    readings(query, missing) {
      const corrected = split(query).map((w) => this.corrected(w, missing));
      const typed = corrected.flatMap(split);
      const inParts = (word) => {
        const list = parts(word);
        return this.lacks(line(list)) ? [whole(word)] : list;
      };
      const plain = line(telling(typed.map(whole)));
      const found = [plain, line(telling(typed.flatMap(inParts)))];
      found.push(...this.joined(plain));
      if (/\p{L}->/u.test(query)) found.push(line(["einsum"])); // an equation
      this.renamed(found, missing);
      return [...new Set(found)].filter((reading) => reading.trim());
    }

    // Two words in a row are one in the book: "ein sum".
    joined(reading) {
      const list = reading.trim().split(" ");
      const pairs = list.slice(1).map((word, i) => [list[i], word]);
      return pairs
        .filter((pair) => this.postings.has(pair.join("")))
        .map((pair) => reading.replace(line(pair), line([pair.join("")])));
    }

    // With the book's names for what students type.
    renamed(found, missing) {
      for (const { form, name, called } of this.aliases) {
        for (const reading of [...found]) {
          if (!reading.includes(form) || found.length > 8) continue;
          found.push(reading.replace(form, phrase(called)));
          if (this.lacks(form)) missing.set(oneWord(name), [name, called]);
        }
      }
    }

    // A typed word, or the nearest if neither the book nor a name has it.
    corrected(word, missing) {
      const stem = whole(word);
      const typed = word.toLowerCase();
      const isKnown =
        STOP.has(stem) || this.postings.has(stem) || this.typed.has(stem);
      const isBegun = this.meanings(typed, true).size; // not by its stem
      if (this.postings.has(stem) && !this.said.has(stem)) {
        missing.set(stem, [word, ""]); // only strangers say so
      }
      if (isKnown || isBegun || !this.lacks(phrase(word))) return word;
      const like = this.nearest(typed);
      missing.set(stem, [word, like]);
      return like || word;
    }

    // Does the book not have a word of these?
    lacks(reading) {
      return reading.trim().split(" ").some((w) => !this.said.has(w));
    }

    // The words of the book that a typed word stands for, and how surely. The
    // last one may be still typed, but a letter that the book has, as d, is one.
    meanings(typed, isLast) {
      const found = new Map();
      const note = (word, sure) => found.has(word) || found.set(word, sure);
      if (this.postings.has(typed)) note(typed, 1);
      const base = typed.replace(/(.)\1?(ing|ed|ly)$/, "$1");
      const without = typed.replace(/(ing|ed|ly)$/, "");
      const doubled = `${base}${base.at(-1)}ing`;
      for (const word of [without, base, `${base}e`, `${typed}ing`, doubled]) {
        if (word.length > 3 && this.postings.has(word)) note(word, 0.7);
      }
      const isBegun = isLast && (typed.length > 1 || !found.size);
      if (typed.length > 3 || isBegun) {
        const longer = this.known.filter((word) => word.startsWith(typed));
        const sure = (word) => (0.6 * typed.length) / word.length;
        for (const word of longer) note(word, sure(word));
      }
      return found;
    }

    // Two words of the book that stand together here, or the commonest that is
    // almost this one, rather with the same first letter; else "".
    nearest(word) {
      if (word.length < 4) return "";
      for (let i = 3; i <= word.length - 3; i++) {
        const pair = [word.slice(0, i), word.slice(i)];
        if (!this.lacks(line(pair.map(whole)))) return pair.join(" ");
      }
      const often = ([stem]) => this.postings.get(stem)?.length || 0;
      const isSure = ([, other]) => other[0] === word[0];
      const cut = whole(word);
      const near = [...this.spelled].filter(([stem, other]) => {
        return alike(word, other) || alike(cut, stem);
      });
      near.sort((a, b) => isSure(b) - isSure(a) || often(b) - often(a));
      return near.length ? near[0][1] : "";
    }

    // How well one typed word fits each section.
    scores(typed, isLast, used) {
      const scores = new Map();
      const meanings = this.meanings(typed, isLast);
      const own = this.rarity(typed);
      for (const [word, sure] of meanings) {
        const rarity = sure * Math.min(own, this.rarity(word));
        used.set(word, Math.max(rarity, used.get(word) || 0));
        for (const [id, weight] of this.postings.get(word)) {
          const score = (rarity * weight) / (weight + SATURATION);
          scores.set(id, Math.max(score, scores.get(id) || 0));
        }
      }
      return { scores, rarity: meanings.size ? own : 0 };
    }

    // How well all words of one reading fit each section.
    rank(reading, used) {
      const typed = reading.trim().split(" ");
      const found = new Map();
      let all = 0;
      typed.forEach((word, i) => {
        const last = i === typed.length - 1;
        const { scores, rarity } = this.scores(word, last, used);
        const part = FILLER.has(word) ? LITTLE : 1;
        all += part * rarity;
        for (const [id, score] of scores) {
          const sum = found.get(id) || { score: 0, met: 0 };
          sum.score += part * score;
          sum.met += part * rarity;
          found.set(id, sum);
        }
      });
      for (const [id, { score, met }] of found) {
        const { weight } = this.sections[id];
        const bonus = this.bonus(id, reading, used);
        found.set(id, score * (met / all) ** 2 * weight * bonus);
      }
      return found;
    }

    // A section that is called what was asked for is meant, and one whose title
    // was asked for with other words perhaps.
    bonus(id, reading, used) {
      const section = this.sections[id];
      section.forms ??= section.names.map(phrase);
      if (section.forms.includes(reading)) return 1.7;
      const isPart = section.forms.some((name) => name.includes(reading));
      const words = section.forms[0].split(" ").filter(Boolean);
      const isMet = words.length && words.every((word) => used.has(word));
      return isPart || isMet ? 1.5 : 1;
    }

    // The best sections, how many there are, and which words the book lacks.
    find(query) {
      const [best, used, missing] = [new Map(), new Map(), new Map()];
      for (const reading of this.readings(query, missing)) {
        for (const [id, score] of this.rank(reading, used)) {
          best.set(id, Math.max(score, best.get(id) || 0));
        }
      }
      const meant = new Map(); // what the glossary says, by section
      for (const [entry, score] of [...best]) {
        const homes = this.homes.get(entry);
        if (!homes) continue;
        const own = (id) => best.get(id) || 0;
        const home = homes.reduce((a, b) => (own(b) > own(a) ? b : a));
        best.delete(entry);
        if (score <= own(home)) continue;
        best.set(home, score);
        meant.set(home, entry);
      }
      const order = [...best].sort(([a, x], [b, y]) => y - x || a - b);
      const good = order.filter(([, score]) => score > WEAK * order[0][1]);
      const shown = good.slice(0, RESULTS);
      return {
        results: shown.map(([id]) => this.result(id, used, meant.get(id))),
        total: good.length,
        missing: [...missing.values()],
      };
    }

    // What is shown of a section: its address, where it stands, its words or
    // those of an entry of the glossary.
    result(id, used, entry) {
      const { url, label, anchor } = this.sections[id];
      const said = this.sections[entry ?? id].fields;
      const fields = this.sections[id].fields.with(3, said[3]);
      const asked = new Set();
      const [name, , , text] = fields.map((words) => {
        const found = words.map((word) => {
          return this.stems.get(word).filter((stem) => used.has(stem));
        });
        found.flat().forEach((stem) => asked.add(stem));
        return { words, found };
      });
      const top = !anchor && [{ text: label, mark: false }];
      return {
        address: url + (top ? "" : `#${anchor}`),
        page: top ? "" : label,
        title: top || pieces(name.words, name.found),
        snippet: cut(text.words, text.found, used),
        asked: [...asked].map((stem) => this.spelled.get(stem) || stem),
      };
    }
  }

  return { Index };
})();
