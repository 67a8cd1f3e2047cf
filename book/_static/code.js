// Code boxes: each can be copied. For the keyboard all the buttons are one
// stop, at the first box in the window; up and down lead to the others. On
// paper long code may break.
"use strict";
{
  const buttons = [];
  const inView = new Set();

  // The one button at which Tab stops.
  function stopAt(button) {
    for (const other of buttons) other.tabIndex = other === button ? 0 : -1;
  }

  function stopInView() {
    if (buttons.includes(document.activeElement)) return;
    const first = buttons.find((button) => inView.has(button.parentElement));
    if (first) stopAt(first);
  }

  function move(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const shown = buttons.filter((button) => button.checkVisibility());
    shown[shown.indexOf(event.target) + step]?.focus();
  }

  function addCopyButton(code) {
    const title = "Copy the code (↑ ↓: other boxes)";
    const kind = { type: "button", className: "copy-button", title };
    const word = make("span", {}, "Copy");
    const sign = icon("M9 9h11v11H9zM6 15H4V4h11v2");
    const button = make("button", kind, sign, word);
    const tell = (isCopied) => {
      word.textContent = isCopied ? "Copied" : "Copy";
      button.classList.toggle("copied", isCopied);
    };
    button.addEventListener("click", () =>
      copy(code.textContent.trimEnd(), tell),
    );
    button.addEventListener("keydown", move);
    button.addEventListener("focus", () => stopAt(button));
    code.parentElement.append(button);
    buttons.push(button);
  }

  function addCopyButtons() {
    const all = document.querySelectorAll(".highlight > pre");
    const boxes = [...all].filter((code) => !code.closest(".cell_output"));
    boxes.forEach(addCopyButton);
    const watcher = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) inView.add(target);
        else inView.delete(target);
      }
      stopInView();
    });
    for (const code of boxes) watcher.observe(code.parentElement);
    if (buttons.length) stopAt(buttons[0]);
  }

  // On paper short code stays in one piece; half a page of it may break.
  function markLongCode() {
    for (const code of document.querySelectorAll("pre")) {
      code.classList.toggle("long", code.textContent.split("\n").length > 24);
    }
  }

  if (navigator.clipboard) addCopyButtons();
  addEventListener("beforeprint", markLongCode);
}
