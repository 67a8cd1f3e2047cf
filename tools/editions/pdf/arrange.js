// Runs in the file that `source.py` wrote and makes a book of its pages:
// title, contents, parts, chapters, and in the appendices what the site folds
// away. It gets what `source.book` found; `fit.js` follows when it has run.
(book) => {
  const main = document.querySelector("main");
  const make = (html) => {
    const box = document.createElement("template");
    box.innerHTML = html.trim();
    return box.content.firstElementChild;
  };
  const escaped = (text) => {
    const box = document.createElement("span");
    box.textContent = text;
    return box.innerHTML;
  };
  // Filled in once the book has been printed and its places are known.
  const pageOf = (id) => `<span class="page-of" data-id="${id}">000</span>`;
  const stem = (page) => page.split("/").pop();
  const templates = [...document.querySelectorAll("template[data-page]")];
  const stems = new Map(templates.map((t) => [t.dataset.url, stem(t.dataset.page)]));

  // Ids are told apart by the page they come from.
  function renameIds(part, name) {
    const names = ["id", "aria-labelledby", "aria-describedby", "for", "headers"];
    for (const attribute of names)
      for (const element of part.querySelectorAll(`[${attribute}]`)) {
        const ids = element.getAttribute(attribute).split(/\s+/);
        element.setAttribute(attribute, ids.map((id) => `${name}.${id}`).join(" "));
      }
    for (const element of part.querySelectorAll("svg *"))
      for (const { name: key, value } of [...element.attributes]) {
        const renamed = value.replace(/url\(#/g, `url(#${name}.`);
        if (renamed !== value) element.setAttribute(key, renamed);
      }
  }

  // Where a link of a page leads in the book; "" if only the site has it.
  function target(link, url) {
    const address = new URL(link.getAttribute("href"), url);
    if (address.protocol !== "file:") return address.href;
    const anchor = decodeURIComponent(address.hash.slice(1));
    address.hash = "";
    const name = stems.get(address.href);
    if (name) return `#${name}${anchor && "."}${anchor}`;
    const file = link.textContent.trim();
    const isCode = /^lib\/[\w/]+\.py$/.test(file);
    return isCode && book.source ? book.source + file : "";
  }

  function redirect(part, url) {
    for (const link of part.querySelectorAll("a[href]")) {
      const href = target(link, url);
      if (href) link.setAttribute("href", href);
      else link.replaceWith(...link.childNodes);
    }
    for (const image of part.querySelectorAll("img[src]")) {
      image.src = new URL(image.getAttribute("src"), url);
      image.loading = "eager";
    }
  }

  // One page of the site as an article, its headings one level deeper.
  function article(template) {
    const { page, url } = template.dataset;
    const name = stem(page);
    const part = template.content;
    for (const idle of part.querySelectorAll(
      ".headerlink, .prev-next, .page-footer, .page-links, .copy-button, .api-source",
    ))
      idle.remove();
    renameIds(part, name);
    redirect(part, url);
    const box = make(`<article id="${name}" class="page"></article>`);
    box.append(part);
    for (const heading of box.querySelectorAll("h1, h2, h3, h4, h5"))
      heading.ariaLevel = Number(heading.tagName[1]) + 1;
    return box;
  }

  const articles = new Map(templates.map((t) => [t.dataset.page, article(t)]));
  for (const template of templates) template.remove();
  const titleOf = (box) => box.querySelector("h1").textContent.trim();

  // What an appendix keeps of one chapter, with a link back to each place.
  const solutions = [];
  const folded = [];

  function entry(list, chapter, id, from, title, nodes) {
    const place = `<a href="#${from}">${title}, page ${pageOf(from)}</a>`;
    const box = make(`<section id="${id}" class="entry"><h3 aria-level="3">${place}</h3></section>`);
    box.append(...nodes);
    list.push({ chapter, box });
  }

  const reference = (id, words) =>
    make(`<span class="elsewhere"><a href="#${id}">${words}: page ${pageOf(id)}</a></span>`);

  // Solutions and the last word on an exercise go to the first appendix.
  function takeSolutions(chapter) {
    for (const section of chapter.querySelectorAll("section")) {
      const title = section.querySelector(":scope > h3")?.textContent.trim() ?? "";
      if (!/^Exercise \d/.test(title)) continue;
      const code = [...section.querySelectorAll(".tag_solution")];
      const words = [...section.querySelectorAll("details:not(.hide)")].filter(
        (box) => !/^(Hint|Predict)/.test(box.querySelector("summary").textContent.trim()),
      );
      if (!code.length && !words.length) continue;
      const id = `solution.${section.id}`;
      (code[0] ?? words[0]).before(reference(id, "Solution"));
      const nodes = [...code.flatMap((cell) => [...cell.querySelectorAll(".cell_input")]), ...words];
      for (const cell of code) cell.remove();
      entry(solutions, chapter, id, section.id, escaped(title), nodes);
    }
  }

  // Of a quiz the choices stay; whether they are right and why stands with the
  // solutions.
  function takeQuiz(chapter) {
    const quiz = chapter.querySelector(".quiz");
    if (!quiz) return;
    const section = quiz.closest("section");
    const answers = [];
    for (const question of quiz.querySelectorAll(".question")) {
      const list = make(`<ol type="a" class="choices"></ol>`);
      const number = question.querySelector("p > strong").textContent;
      const why = make(`<div class="answers whole"><p><strong>${number}</strong></p><ol type="a" class="choices"></ol></div>`);
      for (const box of question.querySelectorAll("details")) {
        const [choice, explanation] = [make("<li></li>"), make("<li></li>")];
        const summary = box.querySelector("summary");
        choice.append(...summary.querySelector("p").childNodes);
        summary.remove();
        explanation.append(...box.childNodes);
        list.append(choice);
        why.querySelector("ol").append(explanation);
        box.remove();
      }
      question.append(list);
      question.classList.add("whole");
      answers.push(why);
    }
    const id = `solution.${section.id}`;
    quiz.append(reference(id, "Answers"));
    entry(solutions, chapter, id, section.id, "Quiz", answers);
  }

  // The call of an exercise's check becomes a line of text.
  function settleChecks(chapter) {
    for (const cell of chapter.querySelectorAll(".tag_exercise-check")) {
      const fold = cell.querySelector("details");
      const call = make(`<pre></pre>`);
      call.textContent = fold.querySelector("summary p").textContent;
      fold.replaceWith(call);
    }
  }

  // Imports, what draws a figure and long outputs go to the second one; checks
  // are left out.
  function takeFoldedCode(chapter) {
    let number = 0;
    for (const cell of chapter.querySelectorAll(".cell")) {
      const fold = cell.querySelector(":scope > details.hide");
      if (!fold) continue;
      fold.remove();
      if (cell.matches(".tag_check, .tag_imports")) cell.remove();
      if (cell.matches(".tag_check")) continue;
      const id = `code.${chapter.id}.${++number}`;
      const code = fold.querySelector(".cell_input, .cell_output");
      const figure = cell.querySelector("figure[id]");
      if (cell.matches(".tag_imports")) {
        entry(folded, chapter, id, chapter.id, "Imports", [code]);
        chapter.querySelector("p.checks")?.append(reference(id, "Imports"));
      } else if (figure) {
        const label = figure.querySelector(".caption-number").textContent.trim();
        entry(folded, chapter, id, figure.id, label.replace("Fig.", "Figure"), [code]);
        figure.querySelector("figcaption p").append(" ", reference(id, "Code"));
      } else {
        const words = code.matches(".cell_input") ? "Code" : "Output";
        cell.id ||= `${id}.place`;
        entry(folded, chapter, id, cell.id, words, [code]);
        cell.append(reference(id, words));
      }
    }
  }

  // On paper nothing can be opened.
  function settle(chapter) {
    for (const note of chapter.querySelectorAll("p.checks")) {
      const count = /\d+/.exec(note.textContent)[0];
      note.textContent = `✓ ${count} checks prove the claims of this chapter. They stand in the notebook and on the website. `;
    }
    for (const box of chapter.querySelectorAll("details:not(.hide)")) {
      box.open = true;
      const words = box.querySelector("summary").textContent.trim();
      box.classList.add(/^Predict/.test(words) ? "predict" : "hint");
    }
  }

  for (const chapter of articles.values()) {
    takeQuiz(chapter);
    settleChecks(chapter);
    settle(chapter);
    takeSolutions(chapter);
    takeFoldedCode(chapter);
  }

  // Every article begins with its name at the head of the page.
  const running = [];
  function named(box, head) {
    const name = `head-${running.length}`;
    box.style.page = name;
    running.push(`@page ${name} { @top-right { content: ${JSON.stringify(head)}; } }`);
    return box;
  }

  function line(href, words, kind) {
    return `<li class="${kind}"><a href="#${href}"><span>${words}</span>${pageOf(href)}</a>`;
  }

  function numbered(title) {
    const [, number, words] = /^(\d+\.)?\s*(.*)$/s.exec(title);
    const shown = number ? `<span class="number">${number}</span> ` : "";
    return shown + escaped(words);
  }

  function contents(parts) {
    const lines = [];
    for (const part of parts) {
      lines.push(line(part.id, escaped(part.caption), "part"), "</li>");
      for (const page of part.boxes) {
        lines.push(line(page.id, numbered(titleOf(page)), "chapter"));
        const sections = [...page.querySelectorAll("h2")].filter((h) => h.parentElement.id);
        if (sections.length && page.querySelector(".section-number")) {
          const items = sections.map((h) => line(h.parentElement.id, h.innerHTML, "section") + "</li>");
          lines.push(`<ol>${items.join("")}</ol>`);
        }
        lines.push("</li>");
      }
    }
    const nav = make(`<nav id="contents" class="page contents"><h1 aria-level="1">Contents</h1><ol>${lines.join("")}</ol></nav>`);
    return named(nav, "Contents");
  }

  function partPage(part) {
    const items = part.boxes.map((page) => {
      const question = page.querySelector(".section-number")
        ? page.querySelector("h1 ~ p > strong")?.textContent
        : "";
      const words = question ? `<p>${escaped(question)}</p>` : "";
      return line(page.id, numbered(titleOf(page)), "chapter") + words + "</li>";
    });
    return make(`<section id="${part.id}" class="page part-page"><h1 aria-level="1">${escaped(part.caption)}</h1><ol>${items.join("")}</ol></section>`);
  }

  function appendix(letter, title, words, entries) {
    const id = `appendix-${letter}`;
    const caption = `Appendix ${letter}. ${title}`;
    const box = make(`<article id="${id}" class="page appendix"><h1 aria-level="1">${caption}</h1><p>${words}</p></article>`);
    let last;
    for (const { chapter, box: item } of entries) {
      if (chapter !== last) {
        const link = `<a href="#${chapter.id}">${escaped(titleOf(chapter))}</a>`;
        box.append(make(`<section id="${id}.${chapter.id}"><h2 aria-level="2">${link}</h2></section>`));
      }
      last = chapter;
      box.lastElementChild.append(item);
    }
    return { id, caption, boxes: [], box: named(box, caption) };
  }

  function titlePage(home) {
    const page = make(`
      <section id="title" class="page title-page">
        <p class="title">${escaped(book.title)}</p>
        <p class="by">${escaped(book.author)}</p>
        <p class="edition">Edition ${escaped(book.edition)}</p>
        <p class="licence">Code under the MIT licence, text and figures under CC BY 4.0.
          Printed from the pages of the website, which also opens its checks and runs without a network.
          Here the checks are left out, solutions stand in appendix A, and appendix B has the imports and the code that draws the figures.</p>
      </section>`);
    page.prepend(home.querySelector(".hero"));
    page.querySelector(".title").after(home.querySelector(".lead"));
    return page;
  }

  const home = articles.get(book.root);
  const front = titlePage(home);
  for (const idle of home.querySelectorAll(".buttons")) idle.remove();
  home.querySelector("h1").textContent = "About this book";
  home.querySelector("h1").ariaLevel = 1;
  for (const heading of home.querySelectorAll("h2, h3, h4")) heading.ariaLevel -= 1;

  const parts = book.parts.map(({ caption, pages }, i) => ({
    id: `part-${i + 1}`,
    caption,
    boxes: pages.map((page) => articles.get(page)),
  }));
  const back = [
    appendix("A", "Solutions", "One solution to each exercise. There are others: an answer is right if it passes the check below the exercise.", solutions),
    appendix("B", "Imports and figures", "The code that the website folds away: what each chapter imports, and the calls that draw its figures.", folded),
  ];

  main.append(front, contents([{ id: home.id, caption: "About this book", boxes: [] }, ...parts, ...back]), named(home, "About this book"));
  for (const part of parts) {
    main.append(partPage(part));
    for (const page of part.boxes) main.append(named(page, titleOf(page)));
  }
  main.append(...back.map(({ box }) => box));
  document.head.append(make(`<style>${running.join("\n")}</style>`));
}
