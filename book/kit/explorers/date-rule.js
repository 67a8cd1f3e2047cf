"use strict";
// What a reader types, made plain; and whether the model's answer is to be
// trusted. The answer stays the model's own: the rule reads the text again,
// in the ways of writing that the model learnt, and compares.
(() => {
  if (globalThis.DateRule) return;
  // White space as Python's str.split() has it.
  const SPACE = new RegExp("[\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a" +
    "\\u2028\\u2029\\u202f\\u205f\\u3000]+", "g");
  const INVISIBLE = /[\p{DI}\p{Cc}\ufff9-\ufffb]/gu;
  const SURE = 0.5; // p of each character of an answer that is not doubted
  const either = (names) => `(${names.join("|")})`;
  const folded = (text) => text.replace(SPACE, " ").trim();

  /** Words and numbers alone; without a word, the marks between digits. */
  const bare = (text) => (/\p{L}/u.test(text)
    ? text.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim() : text);

  /** A pattern such as "d de? MMM de? y" as a regular expression. In front
   * of it or behind it may stand a day of the week. */
  function reader(pattern, months, days, flags) {
    const fields = { y: "(?<!\\d)(?<y>\\d{4})", d: "(?<!\\d)(?<d>\\d{1,2})",
      do: "(?<!\\d)(?<d>\\d{1,2})(?:st|nd|rd|th|ST|ND|RD|TH)",
      M: "(?<!\\d)(?<m>\\d{1,2})", MMM: `(?<name>${either(months)})` };
    const parts = pattern.split(" ").map((part) => fields[part] ??
      (part.endsWith("?") ? `(?:${part.slice(0, -1)})?`
        : part.replace(/[./]/, "\\$&")));
    const day = either(days);
    return new RegExp(`^(?<first>${day})? ?${parts.join(" ?")} ?` +
      `(?<last>${day})?$`, flags);
  }

  class DateRule {
    /** kinds: date_kinds.json, which `make weights` writes. */
    constructor(kinds) {
      this.years = kinds.years;
      const names = kinds.languages.map(({ months, days, patterns }) => ({
        patterns, months: months.split(" ").map(bare),
        days: days.split(" ").map(bare) }));
      this.names = names;
      const made = (flags) => names.flatMap(({ patterns, months, days }) =>
        patterns.map((pattern) => ({ months, days,
          form: reader(pattern, months, days, flags) })));
      this.exact = made("u");
      this.loose = made("iu");
    }

    /** A text as the model is to read it, and what was changed in it that a
     * reader would not see. */
    plain(text) {
      const shown = text.replace(SPACE, " ");
      const hidden = shown.match(INVISIBLE)?.length ?? 0;
      const seen = shown.replace(INVISIBLE, "");
      let plain = folded(seen.normalize("NFKC")), changes = [];
      if (plain !== folded(seen.normalize("NFC"))) {
        changes.push("each character in its plain form");
      }
      const lower = plain.toLowerCase(), words = bare(plain);
      const isLearnt = [lower, plain.toUpperCase()].includes(plain) ||
        this.exact.some(({ form }) => form.test(words));
      if (!isLearnt && this.readings(plain).length) {
        plain = lower;
        changes.push("in lower case");
      }
      if (hidden) {
        changes.push(`without ${hidden} invisible character` +
          (hidden > 1 ? "s" : ""));
      }
      return { plain, changes: changes.join(", ") };
    }

    /** The dates that a text says in the ways that the model learnt. */
    readings(text) {
      const words = bare(text);
      return this.loose.flatMap(({ form, months, days }) => {
        const found = form.exec(words)?.groups;
        if (!found) return [];
        const at = (names, name) => names.findIndex((other) =>
          other.toLowerCase() === name.toLowerCase());
        const day = found.first ?? found.last;
        return [{ year: Number(found.y), day: Number(found.d),
          month: found.name ? at(months, found.name) % 12 + 1
            : Number(found.m),
          weekday: day && at(days, day) % 7 }];
      });
    }

    /** The doubt in an answer: its kind, "" for none, a word or two that
     * lead to it, and a sentence.
     *
     * text: as `plain` made it. written: what the model wrote. sure: the
     * probability of each of its tokens. unknown: characters that it has
     * never met. */
    judge({ text, written, sure, unknown = [] }) {
      const [first, last] = this.years;
      const readings = this.readings(text);
      const same = readings.filter((one) => iso(one) === written);
      const said = same.find((one) => !isAmiss(one)) ?? same[0] ??
        readings[0];
      const weakest = sure.indexOf(Math.min(...sure));
      const isSure = sure[weakest] >= SURE;
      if (!said) return this.strange(text, written, isSure, unknown);
      const { year, month, day, weekday } = said;
      const name = this.names[0].months[month - 1];
      const length = daysIn(year, month);
      if (!length) return doubt("day", `there is no month ${month}.`);
      if (day < 1 || day > length) {
        return doubt("day", `${name} ${year} has no day ${day}.`);
      }
      if (year < first || year > last) {
        return doubt("year", `the year ${year} is not among those that it ` +
          `learnt, ${first} to ${last}.`);
      }
      if (!same.length) return doubt("wrong", `the text says ${iso(said)}.`);
      if (isAmiss(said)) {
        const was = this.names[0].days[weekdayOf(said)];
        return doubt("weekday", `${day} ${name} ${year} is a ${was}.`);
      }
      const met = unknown.length ? ` ${cap(neverMet(unknown))}` : "";
      if (isSure) return doubt("", `The text says this date.${met}`);
      return doubt("unsure", "the text says this date, but the model gave " +
        `character ${weakest + 1} only ${sure[weakest].toFixed(2)}.${met}`);
    }

    /** The doubt where the text is no date of a kind that it learnt. */
    strange(text, written, isSure, unknown) {
      const [first, last] = this.years;
      const numbers = text.match(/\d+/g) ?? [];
      const years = numbers.filter((number) => number.length === 4);
      const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(written) ?? [];
      const [year, month, day] = found.slice(1).map(Number);
      const has = (n) => numbers.some((number) => Number(number) === n);
      const words = bare(text).toLowerCase().split(" ");
      const months = this.names.flatMap((names) => names.months.flatMap(
        (name, i) => (words.includes(name.toLowerCase()) ? i % 12 + 1 : [])));
      const agrees = day > 0 && day <= daysIn(year, month) &&
        years.includes(found[1]) && has(day) &&
        (months.length ? months.includes(month) : has(month));
      let why = "the text is no date of a kind that it learnt.";
      if (unknown.length) why = neverMet(unknown);
      else if (numbers.length && !years.length) {
        why = "the text has no year of four digits.";
      } else if (numbers.length &&
          years.every((one) => one < first || one > last)) {
        why = `it learnt the years ${first} to ${last} only.`;
      }
      return doubt(agrees && isSure ? "kind" : "strange", why);
    }
  }

  const LEADS = { "": "", wrong: "Wrong", day: "No such day",
    year: "Not to be trusted", strange: "Not to be trusted",
    kind: "Doubtful", weekday: "Doubtful", unsure: "Unsure" };
  const doubt = (kind, sentence) => ({ kind, lead: LEADS[kind], sentence });
  const iso = ({ year, month, day }) => [`${year}`.padStart(4, "0"),
    ...[month, day].map((n) => `${n}`.padStart(2, "0"))].join("-");
  const at = (year, month, day) => {
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    return date;
  };
  const daysIn = (year, month) => (month < 1 || month > 12 ? 0
    : at(year, month + 1, 0).getUTCDate());
  const weekdayOf = ({ year, month, day }) =>
    at(year, month, day).getUTCDay();
  const isAmiss = (said) => said.weekday !== undefined &&
    said.weekday !== weekdayOf(said);

  /** Characters with their numbers, since some look like others. */
  const named = (char) => {
    const code = char.codePointAt(0).toString(16).toUpperCase();
    const seen = /[\p{L}\p{N}\p{P}\p{S}]/u.test(char) ? `${char} ` : "";
    return `${seen}(U+${code.padStart(4, "0")})`;
  };
  const list = (chars) => chars.slice(0, 4).map(named).join(", ") +
    (chars.length > 4 ? ` and ${chars.length - 4} more` : "");
  const neverMet = (chars) =>
    `it has never met ${list(chars)} and reads <unk>.`;
  const cap = (words) => words[0].toUpperCase() + words.slice(1);

  globalThis.DateRule = DateRule;
})();
