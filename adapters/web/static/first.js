// A file that is dropped is chosen, and looked at at once. Without this the form does the same.
(() => {
  "use strict";
  const zone = (event) => event.target.closest?.("[data-drop]");
  const over = (form) => {
    for (const one of document.querySelectorAll("[data-drop]")) one.classList.toggle("is-over", one === form);
  };
  const ready = () => {
    for (const one of document.querySelectorAll("[data-drop] [data-hint]")) one.hidden = false;
  };
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      const form = zone(event);
      over(form);
      if (form) event.preventDefault();
    });
  }
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(null); });
  document.addEventListener("drop", (event) => {
    const form = zone(event);
    over(null);
    if (!form || !event.dataTransfer.files.length) return;
    event.preventDefault();
    const input = form.querySelector("input[type=file]");
    const chosen = new DataTransfer();
    chosen.items.add(event.dataTransfer.files[0]);
    input.files = chosen.files;
    form.requestSubmit();
  });
  document.addEventListener("htmx:after:swap", ready);
  ready();
})();
