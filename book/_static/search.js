// What the search page adds to Sphinx's own script.
"use strict";

// A page opened as a file may not read other files: no snippets there.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A snippet shows a formula as it stands on the page, not its MathML as well.
const wholeText = Search.htmlToText;
Search.htmlToText = (html, anchor) =>
  wholeText(
    html.replace(/<span class="katex-mathml">.*?<\/math><\/span>/gs, ""),
    anchor,
  );
