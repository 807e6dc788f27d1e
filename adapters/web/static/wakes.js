// From wake to wake of an agent by the arrow keys; the links beside them do the same.
"use strict";
(function () {
  const FIELDS = "input, select, textarea, summary, [contenteditable], [tabindex='0'], pre, .wide";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const page = document.getElementById("page");
    if (!page || page.dataset.keys === "off" || event.target.closest(FIELDS)) return;
    const link = document.querySelector(`a[data-arrow="${event.key}"]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
