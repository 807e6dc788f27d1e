// "Why?" answers below its field, and closes again: a second press takes the answer away.
(() => {
  "use strict";
  const answer = (link) => link.parentElement.querySelector(":scope > .answer");

  function told() {
    for (const link of document.querySelectorAll("a.ask")) {
      const isOpen = Boolean(answer(link)?.firstElementChild);
      link.setAttribute("role", "button");
      link.setAttribute("aria-expanded", String(isOpen));
    }
  }
  function mark() { // a problem stands at its field, too
    for (const one of document.querySelectorAll(".field-error.is-here")) {
      for (const input of document.querySelectorAll(`[aria-describedby="${one.id}"]`)) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
      one.remove();
    }
    const told = document.querySelector("#told [data-field]");
    const name = told && told.dataset.field;
    const input = name && document.querySelector(`form[data-fields][action$="${told.dataset.at}"] [name="${name}"]`);
    if (!input || input.hasAttribute("aria-describedby")) return;
    const text = document.createElement("p");
    Object.assign(text, { id: `wrong-${name}`, className: "field-error is-here" });
    text.textContent = told.querySelector(".said p").textContent;
    input.closest("label").append(text);
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", text.id);
    input.focus();
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.ask");
    if (!link || !answer(link)?.firstElementChild) return;
    answer(link).replaceChildren();
    told();
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  document.addEventListener("keydown", (event) => { // as a button, by the space bar, too
    if (event.key !== " " || !event.target.matches?.("a.ask")) return;
    event.preventDefault();
    event.target.click();
  });
  // An answer is no page: what page.js does with those (focus, address, news) leaves it alone.
  for (const name of ["htmx:before:swap", "htmx:after:swap", "htmx:finally:request"]) {
    document.addEventListener(name, (event) => {
      const { ctx } = event.detail;
      if (ctx.sourceElement?.matches?.("a.ask")) {
        ctx.title = ""; // that of the answer's own page
        event.stopImmediatePropagation();
      }
      told();
      if (name === "htmx:finally:request") mark();
    }, true);
  }
  told();
})();
