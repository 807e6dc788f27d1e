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
    if (!item) return;
    if (!item.contains(document.activeElement)) { select(at); return; } // another one was there
    const found = item.querySelector(`[data-do="${letter}"]`);
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
  // A click on a proposal decides something: what lies under a resting pointer must not move away.
  const isAiming = () => Boolean(
    matchMedia("(hover: hover)").matches && document.querySelector(".item :is(button, summary):hover"),
  );

  // The stream tells where the logs end (`told`); the page knows where they ended before it was
  // made (`data-tail`). Where the two differ it asks for itself, until an answer was really shown.
  const AGAIN_MS = 2000;
  const news = document.getElementById("news");
  let told = "";
  let isAsking = false;
  let isSending = false; // a form: its answer is newer than what is being asked for
  let isWanted = false; // the person asked for it: what they were typing goes
  let isShown = false;
  const mayShow = () => !isSending && (isWanted || !(isBusy() || isAiming()));
  async function follow() {
    if (isAsking || isSending || !told) return;
    if (told === page().dataset.tail && !isWanted) { told = ""; news.hidden = true; return; }
    if (!mayShow()) { news.hidden = false; return; }
    const wanted = told;
    told = "";
    isAsking = true;
    isShown = false;
    const before = page().dataset.summary;
    try {
      await htmx.ajax("GET", location.pathname + location.search, {
        source: "#page", target: "#page", select: "#page", swap: "outerMorph", isFollowing: true,
      });
    } finally {
      isAsking = false;
    }
    if (!isShown) { // dropped, failed, or not to be shown just now
      told = told || wanted;
      setTimeout(follow, AGAIN_MS);
      return;
    }
    isWanted = false;
    news.hidden = true;
    if (page().dataset.summary !== before) {
      document.getElementById("spoken").textContent = page().dataset.summary;
    }
    follow();
  }
  news.querySelector("button").addEventListener("click", () => {
    isWanted = true;
    follow();
  });
  document.addEventListener("pointerout", () => { if (told) setTimeout(follow); });

  let stream = null;
  function listen() {
    if (document.hidden || (stream && stream.readyState !== EventSource.CLOSED)) return;
    stream = new EventSource("/events");
    stream.addEventListener("tail", (event) => { told = event.data; follow(); });
    stream.addEventListener("error", () => { setTimeout(listen, 5000); }); // if it does not itself
  }
  function rest() { // a browser has few connections to one server: pages behind need none
    if (stream) stream.close();
    stream = null;
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) rest(); else listen(); });
  window.addEventListener("pagehide", rest);
  window.addEventListener("pageshow", listen);

  // --------------------------------------------------------------------------------------- swaps
  const keyed = (where) => [...where.querySelectorAll("details[data-key]")];
  const ofForms = /^(reject|edit|note|item|describe|set|destroy|delete)/;
  let wasIn = ""; // the item in which the focus was, and its place
  let wasAt = -1;
  function keepOpen(made, isOfForm) { // in what comes, before it is there: nothing flickers
    const now = new Map(keyed(page()).map((one) => [one.dataset.key, one.open]));
    for (const one of keyed(made)) {
      const key = one.dataset.key;
      if (now.has(key)) one.open = now.get(key) && !(isOfForm && ofForms.test(key));
    }
  }
  function say(text) { // what is no page of ours: a refusal before anything was read, or no answer
    const words = document.createElement("p");
    words.textContent = text;
    const box = document.createElement("div");
    box.className = "told is-problem";
    box.append(words);
    document.getElementById("told").setAttribute("role", "alert");
    document.getElementById("told").replaceChildren(box);
  }
  document.addEventListener("submit", (event) => {
    isSending = event.target.hasAttribute("hx-boost");
    wasAt = current();
  }, true);
  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx, tasks } = event.detail;
    const made = tasks[0] && tasks[0].fragment;
    const isPage = Boolean(made && made.querySelector("#page, #told"));
    if (!isPage || (ctx.isFollowing && !mayShow())) {
      event.preventDefault();
      if (!ctx.isFollowing) say(ctx.text.slice(0, 300));
      return;
    }
    wasIn = (document.activeElement && document.activeElement.closest(".item") || {}).id || "";
    keepOpen(made, !ctx.isFollowing);
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const { ctx } = event.detail;
    setClock();
    tick();
    reach();
    const same = wasIn && document.getElementById(wasIn);
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (ctx.isFollowing) {
      isShown = true;
      if (same && isLost) same.focus();
      return;
    }
    if (ctx.response && ctx.response.status === 200) history.replaceState(null, "", ctx.response.raw.url);
    const answer = document.getElementById("told");
    document.getElementById("spoken").textContent = answer ? answer.innerText.trim() : "";
    if (!isLost) return;
    if (same) same.focus();
    else if (wasAt >= 0 && items().length) select(wasAt);
    else document.getElementById("main").focus();
  });
  document.addEventListener("htmx:finally:request", (event) => {
    const { ctx } = event.detail;
    if (ctx.isFollowing) return;
    if (!ctx.response) say("The server gave no answer. Is it still running?");
    isSending = false;
    follow();
  });

  setClock();
  tick();
  reach();
  listen();
  setInterval(tick, 1000);
})();
