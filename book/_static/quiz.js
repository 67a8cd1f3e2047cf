// A quiz. Its choices come as boxes that open; here they become buttons that
// say whether they are right, and the first tries are counted. What has been
// picked stays in this browser.
"use strict";
{
  const quiz = document.querySelector(".quiz");
  const key = `quiz ${location.pathname}`;

  // Inside a button a formula is no formula to those who listen: they hear
  // its letters one by one. So they get a line of text instead.
  function labelOf(summary) {
    const label = make("span", {}, ...summary.querySelector("p").childNodes);
    const { spoken } = summary.dataset;
    if (!spoken) return [label];
    label.ariaHidden = "true";
    return [label, make("span", { className: "visually-hidden" }, spoken)];
  }

  // The explanation lies in a region that is read aloud when it appears.
  function choiceOf(box, id) {
    const summary = box.querySelector("summary");
    const name = words(summary.textContent);
    const mark = make("span", { className: "mark" });
    const why = make("div", { id, hidden: true });
    const kind = { type: "button", ariaExpanded: "false" };
    const button = make("button", kind, ...labelOf(summary), mark);
    button.setAttribute("aria-controls", id);
    summary.remove();
    why.append(...box.childNodes);
    const isRight = /^Yes\b/.test(words(why.textContent));
    const className = isRight ? "choice is-right" : "choice";
    const region = make("div", { ariaLive: "polite" }, why);
    const element = make("div", { className }, button, region);
    box.replaceWith(element);
    return { name, isRight, element, button, mark, why };
  }

  function show({ button, why }, open) {
    button.ariaExpanded = String(open);
    why.hidden = !open;
  }

  // A choice as it is when it has been picked, or when that is forgotten.
  function mark(choice, picked) {
    const verdict = choice.isRight ? "Right" : "Wrong";
    choice.element.classList.toggle("picked", picked);
    choice.mark.textContent = picked ? verdict : "";
    show(choice, picked);
  }

  function take(question, choice) {
    question.tried.push(choice);
    mark(choice, true);
  }

  function questionOf(box, number) {
    const text = box.querySelector("p");
    text.id = `quiz-${number}`;
    const group = make("fieldset", { className: "question" }, ...box.childNodes);
    group.setAttribute("aria-labelledby", text.id);
    box.replaceWith(group);
    const boxes = [...group.querySelectorAll("details")];
    const choices = boxes.map((box, i) => choiceOf(box, `quiz-${number}-${i}`));
    return { name: words(text.textContent), choices, tried: [] };
  }

  const questions = [...quiz.querySelectorAll(".question")].map(questionOf);
  const score = make("span", { role: "status" });
  const again = make("button", { type: "button", textContent: "Start again" });
  quiz.append(make("p", { className: "score" }, score, " ", again));

  function count() {
    const answered = questions.filter(({ tried }) => tried.length);
    const right = answered.filter(({ tried }) => tried[0].isRight).length;
    const left = questions.length - answered.length;
    const more = left ? ` ${left} to go.` : "";
    again.hidden = !answered.length;
    score.textContent = answered.length
      ? `${right} of ${answered.length} at the first try.${more}`
      : `${questions.length} questions. First tries count.`;
  }

  function remember() {
    const tries = questions.map(({ name, tried }) => [name, tried.map((c) => c.name)]);
    const text = JSON.stringify(Object.fromEntries(tries));
    attempt(() => localStorage.setItem(key, text));
  }

  // By their words: an answer to a question that has changed is forgotten.
  function recall() {
    const known = attempt(() => JSON.parse(localStorage.getItem(key))) ?? {};
    for (const question of questions)
      for (const name of known[question.name] ?? []) {
        const choice = question.choices.find((c) => c.name === name);
        if (choice) take(question, choice);
      }
  }

  for (const question of questions)
    for (const choice of question.choices)
      choice.button.addEventListener("click", () => {
        if (question.tried.includes(choice)) return show(choice, choice.why.hidden);
        take(question, choice);
        count();
        remember();
      });

  again.addEventListener("click", () => {
    for (const question of questions) {
      question.tried.forEach((choice) => mark(choice, false));
      question.tried = [];
    }
    count();
    remember();
    questions[0].choices[0].button.focus();
  });

  recall();
  count();
}
