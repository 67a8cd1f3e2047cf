// Keys: "/" leads to the search, the arrows to the previous and the next page.
// Who needs these keys for something else switches them off at the foot of the
// page, and this browser remembers it.
"use strict";
{
  const LINKS = { ArrowLeft: "prev", ArrowRight: "next" };
  const menu = document.getElementById("menu");
  const button = document.querySelector(".keys-button");
  let on = attempt(() => localStorage.getItem("keys")) !== "off";

  function showState() {
    button.textContent = on ? "Turn these keys off" : "Turn them on";
    button.closest(".keys").classList.toggle("off", !on);
  }

  function switchKeys() {
    on = !on;
    showState();
    attempt(() => localStorage.setItem("keys", on ? "on" : "off"));
  }

  // Is it a key of these pages, and not one of a field or of the browser?
  function isFree(event) {
    const held = event.altKey || event.ctrlKey || event.metaKey;
    const inside = event.composedPath()[0]; // also of an explorer
    return (
      on &&
      !held &&
      !event.defaultPrevented &&
      !inside.isContentEditable &&
      !inside.matches("input, textarea, select") &&
      !document.querySelector("dialog[open]")
    );
  }

  // Arrows that move something else: a box that scrolls, an explorer, the menu
  // of a narrow window, a page that has been enlarged.
  function isTaken({ target, shiftKey }) {
    return (
      shiftKey ||
      target.matches("[role]:not(main)") ||
      target.tagName.includes("-") ||
      (target !== document.body && scrolls(target)) ||
      scrolls(document.scrollingElement) ||
      visualViewport.scale > 1 ||
      menu.matches(":popover-open")
    );
  }

  function search() {
    const field =
      document.querySelector("main [type=search]") ||
      menu.querySelector("[type=search]");
    const enter = () => {
      field.focus();
      field.select();
    };
    if (field.checkVisibility()) enter();
    else {
      // The menu that opens takes the focus first.
      menu.addEventListener("toggle", enter, { once: true });
      menu.showPopover();
    }
  }

  addEventListener("keydown", (event) => {
    if (!isFree(event)) return;
    if (event.key === "/") {
      event.preventDefault();
      search();
    } else if (event.key in LINKS && !isTaken(event)) {
      const rel = LINKS[event.key];
      document.querySelector(`.prev-next [rel=${rel}]`)?.click();
    }
  });
  button.addEventListener("click", switchKeys);
  showState();
}
