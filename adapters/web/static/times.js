// Times that go on, and what scrolls by itself within reach of keys.
(() => {
  "use strict";
  const page = () => document.getElementById("page");
  let skew = 0;

  // ------------------------------------------------------------------------------------- times
  const units = [[31536000, "y"], [86400, "d"], [3600, "h"], [60, "min"]];
  const shownNow = () => Date.now() + skew;
  function relative(at) {
    const seconds = Math.trunc((shownNow() - at) / 1000);
    for (const [size, unit] of units) {
      if (Math.abs(seconds) < size) continue;
      const told = `${Math.trunc(Math.abs(seconds) / size)} ${unit}`;
      return seconds > 0 ? `${told} ago` : `in ${told}`;
    }
    return seconds >= 0 ? "just now" : "in a moment";
  }
  function countdown(at) {
    const left = Math.trunc((at - shownNow()) / 1000);
    if (left <= 0) return "due now";
    if (left >= 3600) return relative(at);
    return `in ${Math.trunc(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
  function tick() {
    for (const one of document.querySelectorAll("time[datetime]")) {
      const at = Date.parse(one.dateTime), shown = one.querySelector(".ago");
      if (!shown || Number.isNaN(at)) continue;
      const text = `(${shown.hasAttribute("data-countdown") ? countdown(at) : relative(at)})`;
      if (shown.textContent !== text) shown.textContent = text;
    }
  }
  const setClock = () => { skew = Date.parse(page().dataset.now) - Date.now(); };

  // ------------------------------------------------------------------------------------- reach
  function reach() { // what scrolls by itself can be reached by keys; what does not is no stop
    for (const one of document.querySelectorAll("pre, .prose, .prose table")) {
      const isScrolled = one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth;
      if (isScrolled) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  }
  document.addEventListener("toggle", reach, true);
  window.addEventListener("resize", reach);

  function refresh() {
    setClock();
    tick();
    reach();
  }
  document.addEventListener("htmx:after:swap", refresh);
  refresh();
  setInterval(tick, 1000);
})();
