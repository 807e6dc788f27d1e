// Comfort on top of plain forms and links: keys, times that go on, and news without a reload.
(() => {
  "use strict";
  const page = () => document.getElementById("page");
  const items = () => [...document.querySelectorAll(".item")];
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
      const at = Date.parse(one.dateTime);
      const text = one.hasAttribute("data-countdown") ? countdown(at) : relative(at);
      if (!Number.isNaN(at) && one.textContent !== text) one.textContent = text;
    }
  }
  const setClock = () => { skew = Date.parse(page().dataset.now) - Date.now(); };

  // -------------------------------------------------------------------------------------- keys
  let at = -1;
  function select(nth) {
    const all = items();
    if (!all.length) return;
    at = Math.max(0, Math.min(nth, all.length - 1));
    all[at].focus();
    all[at].scrollIntoView({ block: "nearest" });
  }
  function current() {
    const all = items();
    const inside = document.activeElement && document.activeElement.closest(".item");
    return inside ? all.indexOf(inside) : at;
  }
  function act(letter) {
    const item = items()[current()];
    const found = item && item.querySelector(`[data-do="${letter}"]`);
    if (!found) return;
    if (found.tagName !== "DETAILS") { found.click(); return; }
    found.open = true;
    const field = found.querySelector("input:not([type=hidden]), select, textarea");
    if (field) field.focus();
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "Escape") {
      const open = event.target.closest && event.target.closest(".item details[open]");
      if (open) { open.open = false; open.closest(".item").focus(); }
      return;
    }
    if (typing || !items().length) return;
    if (event.key === "j") select(current() + 1);
    else if (event.key === "k") select(current() - 1);
    else if ("cre".includes(event.key) && event.key.length === 1) act(event.key);
    else return;
    event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target.closest && event.target.closest(".item");
    if (item) at = items().indexOf(item);
  });

  // -------------------------------------------------------------------------------------- news
  const fields = () => [...document.querySelectorAll("#page input, #page textarea, #page select")];
  function isTouched(one) {
    if (one.type === "hidden") return false;
    if (one.type === "checkbox") return one.checked !== one.defaultChecked;
    if (one.tagName !== "SELECT") return one.value !== one.defaultValue;
    const first = [...one.options].find((option) => option.defaultSelected) || one.options[0];
    return Boolean(first) && one.value !== first.value;
  }
  const isTyping = () => fields().includes(document.activeElement);
  const isBusy = () => isTyping() || fields().some(isTouched) || document.querySelector("#page .sure[open]");
  let opened = [];
  let closed = [];
  let wasIn = "";
  function remember() {
    const all = [...document.querySelectorAll("#page details[data-key]")];
    opened = all.filter((one) => one.open).map((one) => one.dataset.key);
    closed = all.filter((one) => !one.open).map((one) => one.dataset.key);
    wasIn = (document.activeElement && document.activeElement.closest(".item") || {}).id || "";
  }
  function restore() {
    for (const one of document.querySelectorAll("#page details[data-key]")) {
      if (opened.includes(one.dataset.key)) one.open = true;
      else if (closed.includes(one.dataset.key)) one.open = false;
    }
  }
  let isAsking = false;
  let isAskedAgain = false;
  async function refresh() {
    if (isAsking) { isAskedAgain = true; return; }
    isAsking = true;
    const before = page().dataset.summary;
    try {
      await htmx.ajax("GET", location.pathname + location.search, {
        source: "#page", target: "#page", select: "#page", swap: "outerMorph",
      });
    } finally {
      isAsking = false;
    }
    restore();
    setClock();
    tick();
    if (page().dataset.summary !== before) {
      document.getElementById("spoken").textContent = page().dataset.summary;
    }
    if (isAskedAgain) { isAskedAgain = false; hear(); }
  }
  const news = document.getElementById("news");
  let isWanted = false; // the person asked for it: what they were typing goes
  document.addEventListener("htmx:before:swap", (event) => {
    if (!isAsking) return;
    if (isBusy() && !isWanted) { event.preventDefault(); news.hidden = false; return; }
    isWanted = false;
    remember();
  });
  function hear() {
    if (isBusy()) { news.hidden = false; return; }
    news.hidden = true;
    refresh();
  }
  news.querySelector("button").addEventListener("click", () => {
    news.hidden = true;
    isWanted = true;
    refresh();
  });
  document.getElementById("pulse").addEventListener("changed", hear);
  document.getElementById("pulse").addEventListener("seen", (event) => {
    if (event.detail.data !== page().dataset.tail) hear(); // it changed while nobody listened
  });
  // A message may get lost, or the answer to it may fail: never stay behind for long.
  setInterval(() => { if (!document.hidden && !isBusy()) refresh(); }, 8000);

  // --------------------------------------------------------------------------------------- forms
  let isSending = false;
  let wasAt = -1;
  document.addEventListener("submit", (event) => {
    isSending = event.target.hasAttribute("hx-boost");
    wasAt = current();
    remember();
    opened = opened.filter((key) => !/^(reject|edit|note|item|describe|set|destroy|delete)/.test(key));
  }, true);
  document.addEventListener("htmx:after:swap", (event) => {
    setClock();
    tick();
    if (!isSending) return;
    isSending = false;
    const answer = event.detail && event.detail.ctx && event.detail.ctx.response;
    if (answer && answer.status === 200) history.replaceState(null, "", answer.raw.url);
    news.hidden = true;
    restore();
    const told = document.getElementById("told");
    document.getElementById("spoken").textContent = told ? told.innerText.trim() : "";
    const same = wasIn && document.getElementById(wasIn);
    if (same) same.focus();
    else if (wasAt >= 0 && items().length) select(wasAt);
    else document.getElementById("main").focus();
  });

  window.addEventListener("pageshow", (event) => { if (event.persisted) hear(); });
  setClock();
  tick();
  setInterval(tick, 1000);
})();
