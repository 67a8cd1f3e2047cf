(() => {
  const explorer = () => document.querySelector(".explorer");
  /** All elements inside, of shadow roots too. */
  const inside = (root) => [...root.querySelectorAll("*")].flatMap(
    (e) => [e, ...(e.shadowRoot ? inside(e.shadowRoot) : [])]);
  const visible = () => inside(explorer().shadowRoot)
    .filter((e) => e.checkVisibility() && e.getClientRects().length);
  const said = (e) => e.outerHTML.slice(0, 120);
  const focused = () => {
    let e = document.activeElement;
    while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
    return e;
  };
  const acts = "button, select, input, a, [tabindex]";

  return {
    smallTargets() {
      const area = (e) => (e.matches("input") && e.closest("label")) || e;
      return visible().filter((e) => e.matches(acts)).filter((e) => {
        const box = area(e).getBoundingClientRect();
        return Math.min(box.width, box.height) < 24;
      }).map(said);
    },

    smallText() {
      const speaks = (e) => !e.closest(".visually-hidden")
        && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      const scale = (e) => {
        const svg = e.closest("svg");
        const box = svg?.viewBox.baseVal;
        return box?.width ? svg.getBoundingClientRect().width / box.width : 1;
      };
      const size = (e) => parseFloat(getComputedStyle(e).fontSize) * scale(e);
      return visible().filter(speaks).filter((e) => size(e) < 11.95).map(said);
    },

    /** Use its controls at random, and some cells of its tables: by which
     * control its height changed. A panel that opens is asked for. */
    async restless(count, seed) {
      let state = seed;
      const below = (n) => (state = state * 48271 % 2147483647) % n;
      const cell = "td, [role=gridcell]";
      const may = `button, input:not([type=text], [type=file]), select, ${cell}`;
      const high = () => explorer().getBoundingClientRect().height;
      const first = high(), found = [];
      for (let i = 0; i < count; i++) {
        const all = visible().filter((e) => e.matches(may)
          && !e.closest(":disabled, [inert]"));
        const some = all.filter((e) => i % 5 === 0 || !e.matches(cell));
        const e = some[below(some.length)], before = high();
        if (e.type === "range") e.value = below(Number(e.max) + 1);
        if (e.matches("select")) e.selectedIndex = below(e.options.length);
        if (e.type === "range") e.dispatchEvent(new Event("input"));
        else if (e.matches("select")) e.dispatchEvent(new Event("change"));
        else e.click();
        await new Promise(requestAnimationFrame);
        if (Math.abs(high() - first) > 0.5) found.push([before, high(), said(e)]);
      }
      return found;
    },

    /** What stands out of the frame on the right. */
    outside() {
      const right = (e) => e.getBoundingClientRect().right;
      const frame = explorer().shadowRoot.querySelector(".frame");
      return visible().filter((e) => !e.closest(".visually-hidden, .scroll")
        && right(e) > right(frame) + 0.5).map(said);
    },

    /** Does Tab lead to where the keyboard is, also in a grid? */
    reachable() {
      const e = focused();
      return e === document.body || e.tabIndex >= 0;
    },

    active() {
      const e = focused();
      if (e === document.body) return "";
      const words = e.getAttribute("aria-label") || e.labels?.[0]?.textContent
        || e.textContent || e.tagName;
      return words.trim();
    },
  };
})()
