// What counts as the same word, for the search and for the marks on the page
// that it found: "mask" and "masks", "LayerNorm" and "layer norm".
"use strict";

globalThis.SearchWords = (() => {
  const ODD = new Map(
    Object.entries({ axes: "axis", indices: "index", matrices: "matrix" }),
  );
  const WORD = /[\p{L}\p{N}]+(?:[_'’-][\p{L}\p{N}]+)*/gu;
  const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu;
  const STOP = new Set(
    ("a about am an and are be but by can cant could did do does doesnt dont " +
      "for from get has have he how i if im in is isnt it its like me my of " +
      "on or she so t than that the them then there they this to use was we " +
      "what when where which who whose why will with would you your").split(" "),
  );

  // What a question has besides its subject: it counts for little.
  const FILLER = new Set(
    ("actually all any anything between book correct difference down " +
      "example explained go going happen just know less long make " +
      "many mean meaning more much need new not only other over own really " +
      "same should simple simply some take very whole without work")
      .split(" ")
      .map(stem),
  );

  // Plurals and American spelling; "cache" and "caches" must become one word,
  // so the last e of a long word goes as well.
  function stem(american) {
    const word = american.replace(/(?<=...)iz(?=e|ing|ation)/, "is");
    if (ODD.has(word)) return ODD.get(word);
    if (word.length > 4 && word.endsWith("ies")) return word.slice(0, -3) + "y";
    const plural = word.length > 3 && !/(ss|us|is|bias)$/.test(word);
    const one = plural ? word.replace(/s$/, "") : word;
    return one.length > 4 ? one.replace(/e$/, "") : one;
  }

  const plain = (word) =>
    word.normalize("NFKD").replace(/\p{M}|[’']s$|[’']/gu, "");

  // All of a word as one: "warm-up" is "warmup", "d_k" is "dk".
  const whole = (word) =>
    stem(plain(word).toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));

  // "LayerNorm" is "layer" and "norm", "warm-up" is "warm" and "up".
  function parts(word) {
    const found = plain(word).match(PART) || [];
    const small = found.map((part) => stem(part.toLowerCase()));
    return small.join("").length > small.length ? small : [whole(word)];
  }

  const split = (text) => text.match(WORD) || [];

  // Under what a word of the book is found.
  function stems(word) {
    const letters = split(word)[0];
    if (!letters) return [];
    const small = parts(letters).filter((part) => part.length > 1);
    return [...new Set([whole(letters), ...small])];
  }

  // What a text says, without the words that every text has.
  function telling(list) {
    const rest = list.filter((word) => !STOP.has(word));
    return rest.length ? rest : list;
  }

  return { FILLER, STOP, WORD, parts, split, stems, telling, whole };
})();
