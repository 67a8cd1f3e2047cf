// A figure opens large: a click on it, or its button. Arrows lead to the other
// figures of the page, Escape leads back.
"use strict";
{
  const pictures = [...document.querySelectorAll("main figure img")].filter(
    (image) => !image.closest("a"),
  );
  let current = 0;

  function button(label, act, inside) {
    const made = make("button", { type: "button", ariaLabel: label }, inside);
    made.addEventListener("click", act);
    return made;
  }

  const ARROWS = "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7";
  const numberOf = (image) => {
    const number = image.closest("figure").querySelector(".caption-number");
    return number?.textContent.trim().replace("Fig.", "Figure") ?? "Figure";
  };

  const count = make("span", { role: "status" });
  const frame = { className: "zoom-stage", tabIndex: 0, role: "group" };
  const stage = make("div", frame);
  const caption = make("figcaption");
  const figure = make("figure", {}, stage, caption);
  const close = button("Close", () => dialog.close(), "×");
  const bar = make("div", { className: "zoom-bar" }, count, close);
  if (pictures.length > 1) {
    close.before(button("Previous figure", () => show(current - 1), "←"));
    close.before(button("Next figure", () => show(current + 1), "→"));
  }
  const dialog = make("dialog", { className: "zoom" }, bar, figure);

  function show(index) {
    current = (index + pictures.length) % pictures.length;
    const picture = pictures[current];
    const own = picture.closest("figure");
    const image = picture.cloneNode();
    image.loading = "eager";
    const side = (name) => image.getAttribute(name);
    image.style.setProperty("--ratio", side("width") / side("height"));
    stage.replaceChildren(image);
    stage.scrollTo(0, 0);
    const words = own.querySelector("figcaption").cloneNode(true);
    words.querySelector(".headerlink")?.remove();
    caption.replaceChildren(...words.childNodes);
    const keeps = own.closest(".tag_keep-colours") !== null;
    figure.classList.toggle("keep-colours", keeps);
    const name = numberOf(picture);
    dialog.ariaLabel = stage.ariaLabel = name;
    count.textContent = `${name} · ${current + 1} of ${pictures.length}`;
  }

  function open(index) {
    show(index);
    dialog.showModal();
    close.focus();
  }

  function move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || (event.target === stage && scrolls(stage))) return;
    event.preventDefault();
    show(current + step);
  }

  // Back on the page the focus is at the figure that was shown last.
  function leave() {
    const picture = pictures[current];
    picture.nextElementSibling.focus({ preventScroll: true });
    picture.scrollIntoView({ block: "nearest" });
  }

  pictures.forEach((image, index) => {
    const name = `Enlarge ${numberOf(image).toLowerCase()}`;
    const opener = button(name, () => open(index), icon(ARROWS));
    opener.className = "zoom-button";
    image.after(opener);
    image.addEventListener("click", () => open(index));
  });
  dialog.addEventListener("keydown", move);
  dialog.addEventListener("close", leave);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
}
