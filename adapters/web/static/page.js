// Comfort on top of plain forms and links: keys, news without a reload, and nothing by accident.
// One script for all pages, since an answer may bring any of them into any other: each part does
// nothing where what it is for is not there.
(() => {
  "use strict";
  const root = document.documentElement.dataset.root || ""; // of one home among many
  const page = () => document.getElementById("page");
  const items = () => [...document.querySelectorAll(".item:not(.is-kept, [aria-busy])")];
  let isSending = false; // a form: its answer is newer than what is being asked for
  const queue = []; // what was decided in the inbox's list, and is not answered yet

  // ------------------------------------------------------------------------------------- hints
  const hint = document.getElementById("hint");
  function hinted(text) { // why nothing came of a key or a click
    hint.textContent = text;
    hint.hidden = !text;
  }

  // -------------------------------------------------------------------------------------- keys
  // A letter acts on the card that has the focus and can be seen; never while it is held, or in a
  // form. What a row of the inbox does with it stands there; a card does nothing while an answer is
  // awaited, or a moment after the selection has moved by itself.
  const QUIET_MS = 400;
  const LETTERS = () => (document.querySelector(".hours") ? "crez[]-+od" : "crez");
  let ahead = ""; // steps of a block that were pressed while an answer was awaited
  let at = -1;
  let quietUntil = 0;
  const beQuiet = () => { quietUntil = performance.now() + QUIET_MS; };
  function select(nth, isStill) {
    const all = items();
    if (!all.length) return;
    at = Math.max(0, Math.min(nth, all.length - 1));
    all[at].focus({ preventScroll: true });
    if (!isStill) all[at].scrollIntoView({ block: "nearest" });
  }
  function current() {
    const all = items();
    const inside = document.activeElement && document.activeElement.closest(".item");
    return inside && all.includes(inside) ? all.indexOf(inside) : at;
  }
  function isInView(item) {
    const { top, bottom } = item.getBoundingClientRect();
    const edge = Math.max(0, document.querySelector(".bar").getBoundingClientRect().bottom);
    const notice = document.querySelector(".told");
    return bottom > edge && top < (notice ? notice.getBoundingClientRect().top : innerHeight);
  }
  const isQuiet = () => isSending || performance.now() < quietUntil;
  function letterOf(event) { // by its place where the script has no Latin letters; Caps Lock is no Shift
    const { key, code, shiftKey } = event;
    if (shiftKey || key.length !== 1) return key;
    return /[^\x20-\x7e]/.test(key) && !/\p{Script=Latin}/u.test(key) && code.startsWith("Key")
      ? code.slice(3).toLowerCase() : key.toLowerCase();
  }
  function whyNot(item) { // why no key confirms it
    if (item.classList.contains("is-stale")) return "The task has changed since this was proposed: no key confirms it. Look at it, then press “Confirm anyway”.";
    const need = item.dataset.after && document.getElementById(`item-${item.dataset.after.replace(/[./ ]/g, "-")}`);
    const comes = need && (need.matches(".is-confirmed.is-kept") || need.matches("[aria-busy][data-verdict=confirm]"));
    return item.dataset.after && !comes ? `It needs ${item.dataset.after}: confirm that one first.` : "";
  }
  const firstField = (form) => form && form.querySelector("input:not([type=hidden]), select, textarea");
  function act(letter) {
    const item = document.activeElement;
    const isRow = item.matches(".list .item");
    if (isSending && "[]-+".includes(letter)) ahead += letter;
    if (!isRow && isQuiet()) return;
    if (!items().includes(item) || !isInView(item)) { // another one was there, or none was chosen
      select(current());
      beQuiet();
      return;
    }
    const why = letter === "c" ? whyNot(item) : "";
    const found = item.querySelector(`[data-do="${letter}"]`);
    if (why) hinted(why);
    else if (isRow) item.dispatchEvent(new CustomEvent("wakelog:verdict", { bubbles: true, detail: letter }));
    else if (found && found.tagName === "DETAILS") {
      found.open = true;
      (firstField(found) || found).focus();
    } else if (found) {
      beQuiet();
      found.click();
    }
  }
  const isPressing = (event) => (event.key === "Enter" && !event.target.closest("textarea, a"))
    || (event.key === " " && event.target.closest("button, summary"));
  function sends(event) { // Enter in a field: that of its own button, which is not the first of its form
    if (event.key !== "Enter" || event.repeat || event.isComposing) return false;
    const isSure = event.ctrlKey || event.metaKey;
    const drop = event.target.closest(".drop");
    if (!event.target.matches(isSure ? "input, textarea" : "input") || !(drop || isSure)) return false;
    event.preventDefault();
    const button = drop && drop.querySelector("button");
    const isEmpty = event.target.name === "reason" && !event.target.value.trim();
    if (!button) event.target.form?.requestSubmit();
    else if (button.value === "anyway") hinted("The task has changed since this was proposed: no key confirms it.");
    else if (isEmpty && !isSure) hinted("Nothing was decided. Say why, or press Ctrl+Enter to say nothing.");
    else button.click();
    return true;
  }
  document.addEventListener("keydown", (event) => {
    if (sends(event) || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    hinted("");
    pressed = null;
    const inForm = event.target.closest("form, summary");
    if (event.repeat) { // what is held decides nothing, by no key
      if (inForm && isPressing(event)) event.preventDefault();
      return;
    }
    if (event.key === "Escape") {
      const item = event.target.closest(".item");
      const open = item && item.querySelector("details[open]");
      if (open) open.open = false;
      if (item) item.focus();
      return;
    }
    const key = letterOf(event);
    if (key === "/" && !inForm && page().dataset.keys !== "off") {
      event.preventDefault();
      document.getElementById("search").focus();
      return;
    }
    if (inForm || page().dataset.keys === "off") return;
    const whole = document.querySelector(`[data-page="${CSS.escape(key)}"]`); // of no item
    if (whole) {
      event.preventDefault();
      if (whole.tagName !== "DETAILS") whole.click();
      else if ((whole.open = !whole.open)) (firstField(whole) || whole.firstElementChild).focus();
      return;
    }
    if (!items().length) return;
    if (key === "j" || key === "k") {
      select(current() + (key === "j" ? 1 : -1));
      quietUntil = 0; // a person chose it
    }
    else if (LETTERS().includes(key) && key.length === 1) act(key);
    else return;
    event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target.closest && event.target.closest(".item");
    if (item && items().includes(item)) at = items().indexOf(item);
  });

  // ------------------------------------------------------------------------------------ clicks
  // After an answer another button may have come under a pointer that did not move: the second
  // click of a slow double-click is not for it.
  const RESTING_MS = 2000;
  const NEAR = 5; // pixels
  let pointer = null; // where it is
  let pressed = null; // the last click: where, and on what
  let restsUntil = 0;
  const isNear = (event) => Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= NEAR;
  function meaning(button) { // a form and what it is about, but not what changes with each page
    const form = button.closest("form");
    if (!form) return button.closest("[data-key]") ? button.closest("[data-key]").dataset.key : "";
    const about = [...form.querySelectorAll("input[type=hidden]")].filter(
      (one) => !/^(csrf|nonce|back|was.*)$/.test(one.name),
    );
    return [form.getAttribute("action"), ...about.map((one) => one.value)].join(" ");
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#page button, #page summary");
    if (event.detail === 0) return; // by a key
    const isAnother = button && pressed && performance.now() < restsUntil && isNear(event)
      && meaning(button) !== pressed.meaning;
    restsUntil = 0;
    hinted("");
    if (isAnother) {
      event.preventDefault();
      event.stopImmediatePropagation();
      hinted("Nothing was done: the page moved under the pointer. Click again if you mean this.");
      return;
    }
    pressed = button ? { x: event.clientX, y: event.clientY, meaning: meaning(button) } : null;
  }, true);
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    pointer = { x: event.clientX, y: event.clientY };
    if (pressed && !isNear(event)) restsUntil = 0;
    watch(event.target);
  });

  document.addEventListener("click", (event) => { // what is typed next goes into the form
    const summary = event.target.closest("summary");
    const field = summary && !summary.parentElement.open
      && firstField(summary.parentElement.querySelector(":scope > form, :scope > .drop"));
    if (!field) return;
    event.preventDefault();
    summary.parentElement.open = true;
    field.focus();
  });

  document.addEventListener("click", (event) => { // a value: to its field
    const link = event.target.closest("a.edit");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const form = document.getElementById("edits");
    form.open = true;
    form.querySelector(`[name="${link.dataset.field}"]`).focus();
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
  // A click decides something: what lies under a resting pointer must not move away. Nor does the
  // gap of a card that was decided close while the pointer is on its way to another.
  const AIMED = ":is(#main, .bar) :is(button:not(.work *), summary):hover, .told :hover, .item.is-kept:not(.list *):hover";
  const hasHover = matchMedia("(hover: hover)");
  const isAiming = () => Boolean(
    hasHover.matches && document.querySelector(isLeft ? `${AIMED}, .item:hover` : AIMED),
  );

  // The stream tells where the logs end (`told`); the page knows where they ended before it was
  // made (`data-tail`). Where the two differ it asks for itself, until an answer was really shown.
  const AGAIN_MS = 2000;
  const news = document.getElementById("news");
  let told = "";
  const passed = new Set(); // where they ended before verdicts of this page
  let isAsking = false;
  let isWanted = false; // the person asked for it: what they were typing goes
  let isShown = false;
  let isLeft = false; // a card that was decided, by the pointer
  const mayShow = () => !(isSending || queue.length) && (isWanted || !(isBusy() || isAiming()));
  const here = () => location.pathname + location.search;
  async function follow() {
    if (isAsking || isSending || queue.length || !(told || isLeft)) return;
    const isNew = Boolean(told) && told !== page().dataset.tail;
    if (!isNew) { told = ""; news.hidden = true; }
    if (!isNew && !isWanted && !isLeft) return;
    if (!mayShow()) { news.hidden = !isNew; return; }
    const wanted = told;
    told = "";
    isAsking = true;
    isShown = false;
    const before = page().dataset.summary;
    try {
      await htmx.ajax("GET", here(), {
        source: "#page", target: "#page", select: "#page", swap: "outerMorph", isFollowing: true,
        of: here(), // where somebody went on meanwhile, it would bring back what they left
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
    isLeft = false;
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
  const goOn = () => { if (told || isLeft) setTimeout(follow); };
  document.addEventListener("pointerout", goOn);
  document.addEventListener("focusout", goOn);

  const KEPT_CARD = ".item.is-kept:not(.list *)";
  let isOver = false; // the pointer, over a card that was decided
  function watch(target) {
    const over = Boolean(target && target.closest && target.closest(KEPT_CARD));
    if (isOver && !over) {
      isLeft = true;
      address({ kept: "no" });
      setTimeout(follow);
    }
    isOver = over;
  }
  document.documentElement.addEventListener("pointerleave", () => watch(null));
  function address(changes) { // what the page asks for when it asks for itself
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value) url.searchParams.set(name, value);
      else url.searchParams.delete(name);
    }
    history.replaceState(null, "", url);
  }

  const LOST_MS = 2000; // that nobody is told of
  const lost = document.getElementById("lost");
  let stream = null;
  function listen() {
    if (document.hidden || (stream && stream.readyState !== EventSource.CLOSED)) return;
    stream = new EventSource(`${root}/events`);
    stream.addEventListener("tail", (event) => {
      if (!passed.has(event.data)) told = event.data;
      follow();
    });
    stream.addEventListener("open", () => { lost.hidden = true; });
    stream.addEventListener("error", () => {
      setTimeout(listen, 5000); // if it does not itself
      setTimeout(() => { lost.hidden = !stream || stream.readyState === EventSource.OPEN; }, LOST_MS);
    });
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
  const ofForms = /^(reject|edit|note|item|describe|set|destroy|delete|all|conclude|entry|log|rate)/;
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
    const told = document.getElementById("told");
    told.setAttribute("role", "alert");
    told.innerHTML = '<div class="told is-problem"><div class="said"><p></p><a data-close>Close</a></div></div>';
    told.querySelector("p").textContent = text;
    told.querySelector("a").href = location.href;
  }
  // A card that was decided stays where it was, as high as it was; what went above it is made up
  // for by scrolling, and where the page cannot scroll so far, by a gap.
  let heights = new Map();
  let place = null; // of the card, or of the part of the page: its id, and where its top was
  function partOf(form) {
    const section = form.closest(".item, section[aria-labelledby]");
    return section && (section.id ? section : document.getElementById(section.getAttribute("aria-labelledby")));
  }
  function measure(part) {
    place = part && { id: part.id, top: part.getBoundingClientRect().top };
    heights = new Map([...document.querySelectorAll(".item")].map((one) => [one.id, one.getBoundingClientRect().height]));
  }
  function hold() {
    settle();
    const under = pointer && document.elementFromPoint(pointer.x, pointer.y);
    isOver = Boolean(under && under.closest(KEPT_CARD));
  }
  function settle() {
    for (const one of document.querySelectorAll(".item.is-kept")) {
      if (heights.has(one.id)) one.style.minHeight = `${heights.get(one.id)}px`;
    }
    const part = place && document.getElementById(place.id);
    if (!part) return;
    const slid = () => part.getBoundingClientRect().top - place.top;
    window.scrollBy({ top: slid(), behavior: "instant" });
    const left = slid();
    if (Math.abs(left) < 1 || !part.matches(".item")) return;
    const main = document.getElementById("main");
    const side = left < 0 ? "paddingTop" : "paddingBottom";
    main.style[side] = `${parseFloat(getComputedStyle(main)[side]) + Math.abs(left)}px`;
    window.scrollBy({ top: slid(), behavior: "instant" });
  }
  function ofVisit(nonce) { // which visit it is of: this tab's
    const visit = sessionStorage.getItem("visit") || nonce.slice(0, 8);
    sessionStorage.setItem("visit", visit);
    return visit + nonce.slice(8);
  }
  document.addEventListener("submit", (event) => {
    for (const one of event.target.querySelectorAll("[name=nonce]")) one.value = ofVisit(one.value);
    if (event.defaultPrevented) return; // it is in the queue
    isSending = event.target.hasAttribute("hx-boost");
    wasAt = current();
    measure(partOf(event.target));
  }, true);
  document.addEventListener("htmx:before:swap", (event) => {
    const { ctx, tasks } = event.detail;
    const made = tasks[0] && tasks[0].fragment;
    const isPage = Boolean(made && made.querySelector("#page, #told"));
    if (!isPage || (ctx.isFollowing && !(mayShow() && ctx.of === here()))) {
      event.preventDefault();
      if (!ctx.isFollowing) say(ctx.text.slice(0, 300));
      return;
    }
    wasIn = (document.activeElement && document.activeElement.closest(".item") || {}).id || "";
    keepOpen(made, !ctx.isFollowing);
    if (!ctx.isFollowing) return;
    const part = place && document.getElementById(place.id);
    measure(part && part.matches(".item.is-kept") ? part : null);
    const answer = made.querySelector("#told");
    if (answer) answer.replaceWith(document.getElementById("told").cloneNode(true)); // it stays in view
  });
  document.addEventListener("htmx:after:swap", (event) => {
    const { ctx } = event.detail;
    const known = wasIn && document.getElementById(wasIn);
    const same = known && items().includes(known) ? known : null;
    const focused = document.activeElement;
    const isLost = !focused || focused === document.body || focused.matches(".item.is-kept");
    if (ctx.isFollowing) {
      isShown = true;
      hold();
      if (same && isLost) same.focus({ preventScroll: true });
      return;
    }
    const isDone = ctx.response && ctx.response.status === 200;
    if (isDone) history.replaceState(null, "", ctx.response.raw.url);
    else address({ told: "" });
    isLeft = false;
    hold();
    beQuiet();
    restsUntil = performance.now() + RESTING_MS;
    const answer = document.getElementById("told");
    document.getElementById("spoken").textContent = answer ? answer.innerText.trim() : "";
    if (!isLost) return;
    const isByPointer = Boolean(pressed);
    const clash = answer && answer.querySelector(".clash :is(input:not([type=hidden]), textarea)");
    if (clash) clash.focus();
    else if (same) same.focus({ preventScroll: true });
    else if (wasAt >= 0 && items().length) select(wasAt, isByPointer);
    else document.getElementById("main").focus({ preventScroll: true });
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-close]")) return;
    event.preventDefault();
    document.getElementById("told").replaceChildren();
    document.getElementById("main").focus({ preventScroll: true });
  });
  document.addEventListener("htmx:finally:request", (event) => {
    const { ctx } = event.detail;
    if (ctx.isFollowing) return;
    if (!ctx.response) say("The server gave no answer. Is it still running?");
    isSending = false;
    follow();
    const [next] = ctx.response?.status === 200 ? ahead : "";
    ahead = next ? ahead.slice(1) : "";
    if (!next) return;
    quietUntil = 0;
    act(next);
  });

  listen();

  // ---------------------------------------------------------------------------------------- times
  // Times that go on, and what scrolls by itself within reach of keys.
  {
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
        const text = shown.hasAttribute("data-countdown") ? countdown(at) : relative(at);
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
  }

  // ---------------------------------------------------------------------------------------- files
  // A file that is dropped is chosen, and looked at at once. Without this the form does the same.
  {
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
  }

  // ---------------------------------------------------------------------------------------- inbox
  // The inbox's list: one proposal beside it, several at once, undo, and notices on the desktop.
  {
    const isWide = matchMedia("(min-width: 1000px)");
    const isHere = () => document.getElementById("notices") !== null; // its button, on no other page
    const pane = () => document.getElementById("pane");
    const selection = () => document.getElementById("selection");
    const rows = () => [...document.querySelectorAll(".list .item:not(.is-kept, [aria-busy])")];
    const picks = () => [...document.querySelectorAll(".pick")];
    const picked = () => picks().filter((one) => one.checked);
    const focused = () => document.activeElement?.closest(".list .item");
    const chosenRow = () => document.querySelector(".list [aria-current]");

    // ------------------------------------------------------------------------------------ one
    // What is chosen by a key or a click stands in the pane, on a narrow screen once it is asked for.
    // After an answer to a click it stays until something else is chosen: another verdict would come
    // under the pointer. All rows are one stop of Tab; what is in them is reached by keys of ours.
    let isByPointer = false;
    let isEngaged = false; // a verdict's letter counts from the first j, k, Enter or click on
    let asking = null;
    const isBeside = (row) => Boolean(pane()) && pane().dataset.item === row.id;
    function rove() {
      const stop = chosenRow() || rows()[0];
      for (const one of document.querySelectorAll(".list .item")) one.tabIndex = one === stop ? 0 : -1;
      for (const one of document.querySelectorAll(".list :is(.entry, .pick)")) one.tabIndex = -1;
    }
    async function choose(row, isAsked = isWide.matches) {
      if (asking) asking.abort();
      for (const one of document.querySelectorAll(".list [aria-current]")) one.removeAttribute("aria-current");
      row.setAttribute("aria-current", "true");
      rove();
      if (!isAsked) return;
      const url = new URL(row.querySelector(".entry").href);
      history.replaceState(null, "", url);
      if (isBeside(row)) return pane().classList.add("is-asked");
      asking = new AbortController();
      url.searchParams.set("part", "pane");
      const made = await fetch(url, { signal: asking.signal }).then((one) => one.text()).then(read).catch(() => null);
      if (row.isConnected && row === chosenRow()) put(made && made.getElementById("pane"));
    }
    const read = (text) => new DOMParser().parseFromString(text, "text/html");
    function put(made, id = made && made.id) { // in the place of what is called so
      const old = made && document.getElementById(id);
      if (!old) return;
      const now = document.adoptNode(made);
      const hasFocus = old.contains(document.activeElement);
      old.replaceWith(now);
      htmx.process(now);
      if (hasFocus) now.focus({ preventScroll: true });
    }
    function shut() { // the sheet of a narrow screen
      if (isWide.matches || !pane()) return;
      pane().classList.remove("is-asked");
      address({ at: "" });
    }
    document.addEventListener("pointerdown", () => { isByPointer = true; }, true);
    document.addEventListener("keydown", () => { isByPointer = false; }, true);
    document.addEventListener("focusin", (event) => {
      const row = event.target.closest(".list .item");
      if (row && !isByPointer && rows().includes(row)) choose(row, isWide.matches && !queue.length);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest(".list .entry, .pane .shut");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      if (link.matches(".shut")) { shut(); chosenRow()?.focus(); return; }
      isEngaged = true;
      link.closest(".item").focus({ preventScroll: true });
      choose(link.closest(".item"), true);
    });

    // ------------------------------------------------------------------------------- verdicts
    // A verdict is for the row on which it was given: that row is marked at once, the next one is
    // chosen, and what is typed meanwhile is kept. They are sent one after another; an answer is
    // their rows, the pane of what is chosen then, and how many wait.
    const nonce = (form) => ofVisit(form.elements.nonce.value.slice(0, 8)
      + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(9)))).replace(/[+/]/g, "-"));
    const rowOf = (ref) => picks().find((one) => one.value.startsWith(ref.split(".", 2).join(".") + "."))?.closest(".item");
    function keyed(verdict, refs) {
      const data = new FormData(selection());
      for (const name of ["reason", "until", "ref"]) data.delete(name);
      for (const ref of refs) data.append("ref", ref);
      data.set("verdict", verdict);
      give(data, refs);
    }
    function give(data, refs) {
      data.set("nonce", nonce(selection()));
      const path = refs.length > 1 ? "/inbox/decide-several" : "/inbox/decide";
      const those = refs.map(rowOf).filter((row) => row && !row.hasAttribute("aria-busy"));
      if (!those.length) return;
      const all = rows();
      const after = all.slice(all.indexOf(those.at(-1)) + 1).concat(all.slice(0, all.indexOf(those[0])).reverse());
      for (const row of those) {
        row.setAttribute("aria-busy", "true");
        row.dataset.verdict = data.get("verdict") ?? "confirm";
        row.querySelector(".pick").checked = false;
      }
      const ids = those.map((row) => row.id);
      queue.push({ path, data, ids, isByPointer });
      count();
      if (isByPointer) shut();
      const next = after.find((row) => rows().includes(row));
      if (next) select(items().indexOf(next), isByPointer);
      else document.getElementById("main").focus({ preventScroll: true });
      if (queue.length === 1) send();
    }
    async function send() {
      let isTold = false; // a problem stays in sight until all is answered
      for (; queue.length; queue.shift()) {
        if (queue[0].undo) { await queue[0].undo(); continue; }
        const made = await sent(queue[0]);
        if (!made) { // none of what comes after it is tried
          for (const { ids } of queue.splice(1)) free(ids ?? []);
          continue;
        }
        const said = made.getElementById("told");
        const isBad = said.getAttribute("role") === "alert";
        const words = document.querySelector("#told .said p");
        if (isTold && isBad) words.append(" ", ...said.querySelector(".said p").childNodes);
        else if (!isTold) put(said);
        isTold = isTold || isBad;
        document.getElementById("spoken").textContent = said.innerText.trim();
      }
      const row = chosenRow();
      if (row && rows().includes(row) && isWide.matches && !isBeside(row) && !isByPointer) choose(row);
      if (!rows().length && document.querySelector(".list [rel=next]")) isLeft = true;
      follow();
    }
    function free(ids) {
      for (const id of ids) document.getElementById(id)?.removeAttribute("aria-busy");
    }
    async function sent({ path, data, ids, isByPointer: isClicked }) {
      const at = isClicked ? document.getElementById(ids[0]) : chosenRow();
      const href = at && isWide.matches && at.querySelector(".entry").href;
      data.set("part", "rows");
      data.set("at", href ? new URL(href).searchParams.get("at") : "");
      const answer = await fetch(root + path, {
        method: "POST", body: new URLSearchParams(data), headers: { "HX-Request": "true", Accept: "text/html" },
      }).catch(() => null);
      const text = answer && await answer.text().catch(() => "");
      const made = text && read(text);
      const found = made && made.getElementById("rows");
      free(ids);
      if (!made || !made.getElementById("told")) {
        say(text ? text.slice(0, 300) : "The server gave no answer. Is it still running?");
        return null;
      }
      if (!found) return made;
      for (const row of [...found.querySelectorAll(".item")]) put(row);
      put(made.getElementById("waiting"));
      document.querySelector("h1 .number").textContent = document.getElementById("waiting").textContent.replace(/^0$/, "");
      const now = made.getElementById("pane");
      if (now && now.dataset.item === chosenRow()?.id) put(now);
      document.title = found.dataset.title;
      page().dataset.summary = found.dataset.summary;
      if (found.dataset.was === page().dataset.tail) { // nothing else happened in between
        passed.add(found.dataset.was);
        if (told === found.dataset.was) told = "";
        page().dataset.tail = found.dataset.tail;
      }
      rove();
      count();
      return made;
    }
    document.addEventListener("submit", (event) => {
      const form = event.target;
      if (form.id === "undo-last") form.elements.nonce.value = nonce(form);
      if (!isHere() || !selection() || !/\/inbox\/decide(-several)?$/.test(form.action)) return;
      event.preventDefault();
      event.stopPropagation();
      const data = new FormData(form, event.submitter);
      give(data, data.has("all") ? data.get("all").trim().split(" ") : data.getAll("ref"));
      for (const one of form.querySelectorAll("details[open]")) one.open = false;
      form.closest("details[open]")?.removeAttribute("open");
    }, true);
    window.addEventListener("beforeunload", (event) => { if (queue.length) event.preventDefault(); });

    // A form that a key asked for may come a moment later: what is typed meanwhile is for it.
    let held = null;
    async function open(row, letter) {
      held = [];
      await choose(row, true);
      const keys = held;
      held = null;
      if (!keys) return; // Escape came before it
      const found = isBeside(row) && pane().querySelector(`[data-do="${letter}"]`);
      if (!found) { hinted("Nothing in it can be changed by this key."); return; }
      found.open = true;
      firstField(found).focus();
      for (const key of keys) {
        const field = document.activeElement;
        if (key.length === 1 && field.matches("[type=text], :not([type]), textarea")) field.value += key;
        else field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      }
    }
    document.addEventListener("wakelog:verdict", ({ target: row, detail: letter }) => {
      if (!isEngaged) { hinted("Choose it first: by j, k, Enter or a click."); return; }
      const ref = row.querySelector(".pick")?.value;
      if (!ref) hinted("This is decided.");
      else if (row !== chosenRow()) choose(row); // it came after what was clicked
      else if (letter === "c") keyed("confirm", [ref]);
      else if (letter === "z") keyed("tomorrow", [ref]);
      else open(row, letter);
    });

    // -------------------------------------------------------------------------------- several
    function count() {
      const number = picked().length;
      const told = document.getElementById("selected");
      if (!told) return;
      told.textContent = number ? ` (${number})` : "";
      if (number) document.getElementById("spoken").textContent = `${number} selected`;
      const open = new Set(picks().map((one) => one.value)); // what is decided is not confirmed with all
      for (const one of document.querySelectorAll(".list .all")) {
        const button = one.querySelector("button");
        const left = button.value.split(" ").filter((ref) => open.has(ref));
        button.value = left.join(" ");
        for (const told of one.querySelectorAll(".n")) told.textContent = left.length;
        one.hidden = left.length < 2;
      }
    }
    document.addEventListener("change", ({ target }) => {
      if (!target.matches(".pick")) return;
      isEngaged = true;
      target.closest(".item").focus({ preventScroll: true });
      count();
    });
    let chosen = []; // what was selected stays so on the next page, if it is as it was
    document.addEventListener("htmx:before:swap", () => { chosen = picked().map((one) => one.value); });
    document.addEventListener("htmx:after:swap", () => {
      for (const one of picks()) one.checked = one.checked || chosen.includes(one.value);
      for (const { ids } of queue) for (const id of ids ?? []) document.getElementById(id)?.setAttribute("aria-busy", "true");
      count();
      rove();
      offer();
      const row = focused();
      if (row && !isByPointer && rows().includes(row)) choose(row); // the address says so, too
    });

    function several(letter) {
      const found = selection().querySelector(`[data-all="${letter}"]`);
      const refs = picked().map((one) => one.value);
      if (!found) hinted("One at a time is edited: take the marks off first.");
      else if (letter !== "r") keyed(letter === "c" ? "confirm" : "tomorrow", refs);
      else {
        found.open = true;
        firstField(found).focus();
      }
    }
    function mark() {
      const box = focused()?.querySelector(".pick");
      if (!box) { hinted("Choose a proposal first, by j or k."); return; }
      box.checked = !box.checked;
      count();
    }
    function keys() {
      const list = document.getElementById("shortcuts");
      list.open = !list.open;
      if (list.open) list.querySelector("summary").focus();
    }
    function undo() { // after what was decided before it
      const press = () => new Promise((done) => {
        document.addEventListener("htmx:finally:request", () => done(), { once: true });
        document.querySelector("#undo-last button").click();
      });
      queue.push({ undo: press });
      if (queue.length === 1) send();
    }
    const DEEDS = { x: mark, "?": keys, u: undo };
    function move(event) { // by keys that are no letters, which are never off
      const row = focused();
      const isFresh = !isEngaged && document.activeElement === document.body && rows().length;
      if (isFresh && (event.key === "Tab" || event.key === "Enter")) select(current());
      else if (!row || row !== document.activeElement) return;
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") select(current() + (event.key === "ArrowDown" ? 1 : -1));
      else if (event.key === " ") mark();
      else if (event.key === "Enter") choose(row, true).then(() => pane()?.focus());
      else return;
      event.preventDefault();
      isEngaged = isEngaged || event.key !== "Tab";
    }
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !isHere()) return;
      if (held) {
        if (event.key === "Escape") held = null;
        else held.push(event.key);
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      if (event.key === "Escape") { close(event.target); return; }
      if (event.repeat || event.target.closest("form, summary, input, textarea, select")) return;
      if (["Tab", "ArrowDown", "ArrowUp", " ", "Enter"].includes(event.key)) { if (!event.shiftKey) move(event); return; }
      const key = letterOf(event);
      if (page().dataset.keys === "off") return;
      isEngaged = isEngaged || key === "j" || key === "k";
      const isOfMany = "crez".includes(key) && key.length === 1 && picked().length > 0;
      if (!(key in DEEDS || isOfMany)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      hinted("");
      if (isOfMany) several(key);
      else DEEDS[key]();
    }, true);
    function close(target) { // a form over the pane, or over the list, or the sheet: back to the row
      const open = target.closest(".acts details[open], .selection details[open]");
      if (open) open.open = false;
      else if (target.closest("#pane")) shut();
      else return;
      const row = chosenRow();
      (row || open?.querySelector("summary"))?.focus();
    }

    // -------------------------------------------------------------------------------- notices
    // Nothing is asked for, and nothing told, unless the button was pressed; only while the page is
    // behind others: then nobody sees its count.
    const KEPT = "wakelog-notices";
    const isOn = () => "Notification" in window && Notification.permission === "granted"
      && localStorage.getItem(KEPT) === "on";
    function offer() {
      const button = document.getElementById("notices");
      if (!button || !("Notification" in window)) return;
      button.hidden = false;
      button.textContent = isOn() ? "Notify me no more" : "Notify me";
    }
    document.addEventListener("click", async (event) => {
      if (event.target.id !== "notices") return;
      const wish = isOn() ? "off" : "on";
      if (wish === "on" && await Notification.requestPermission() !== "granted") {
        hinted("The browser does not allow notices from this page: its settings say so.");
        return;
      }
      localStorage.setItem(KEPT, wish);
      offer();
    });
    let stream = null;
    const waiting = async () => (await (await fetch(`${root}/inbox.json?part=count`)).json()).waiting;
    async function listen() {
      if (stream) stream.close();
      stream = null;
      if (!document.hidden || !isHere() || !isOn()) return;
      let known = await waiting().catch(() => null);
      if (!document.hidden || known === null) return;
      stream = new EventSource(`${root}/events`);
      stream.addEventListener("tail", async () => {
        const now = await waiting().catch(() => known);
        if (now > known) new Notification("wakelog", { body: `${now} to review`, tag: KEPT, icon: "/static/icon.svg" });
        known = now;
      });
    }
    document.addEventListener("visibilitychange", listen);
    count();
    rove();
    offer();
  }

  // ---------------------------------------------------------------------------------------- lives
  // The slider of a life: another moment without a reload, and play.
  {
    const WAIT_MS = 120;
    const PLAY_MS = 1200;
    const slider = () => document.getElementById("nth");
    let wanted = 0;
    let timer = 0;
    let playing = 0;

    async function show() {
      if (!slider()) return; // another page came meanwhile
      const nth = Number(slider().value);
      wanted = nth;
      const url = new URL(location.href);
      for (const name of ["at", "on", "nth", "told"]) url.searchParams.delete(name);
      url.searchParams.set("nth", nth);
      const answer = await fetch(url).catch(() => null);
      if (!answer || !answer.ok || wanted !== nth) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const moment = page.getElementById("moment");
      if (!moment || !slider() || wanted !== nth) return;
      for (const one of ["#moment", ".steps-of"]) {
        document.querySelector(one).replaceWith(page.querySelector(one));
      }
      slider().setAttribute("aria-valuetext", page.getElementById("nth").getAttribute("aria-valuetext"));
      slider().defaultValue = slider().value; // the page may show news: nothing is being typed
      document.querySelector("[data-moment]").textContent = nth;
      document.getElementById("stands").textContent = moment.querySelector(".stands").textContent;
      url.searchParams.delete("nth");
      url.searchParams.set("at", moment.dataset.at);
      history.replaceState(null, "", url);
    }
    function stop() {
      clearInterval(playing);
      playing = 0;
      const button = document.querySelector("[data-play]");
      if (button) button.textContent = "Play";
    }
    function step() {
      if (!slider() || Number(slider().value) >= Number(slider().max)) return stop();
      slider().stepUp();
      show();
    }
    function prepare() {
      if (!slider()) return;
      document.querySelector("[data-go]").hidden = true;
      document.querySelector("[data-play]").hidden = false;
    }
    document.addEventListener("input", (event) => {
      if (event.target !== slider()) return;
      clearTimeout(timer);
      timer = setTimeout(show, WAIT_MS);
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest("[data-play]")) return;
      if (playing) return stop();
      if (Number(slider().value) >= Number(slider().max)) slider().value = 1;
      document.querySelector("[data-play]").textContent = "Pause";
      step();
      playing = setInterval(step, PLAY_MS);
    });
    document.addEventListener("htmx:after:swap", prepare);
    prepare();
  }

  // -------------------------------------------------------------------------------------- answers
  // "Why?" answers below its field, and closes again: a second press takes the answer away.
  {
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
  }

  // ---------------------------------------------------------------------------------------- wakes
  // From wake to wake of an agent by the arrow keys; the links beside them do the same.
  {
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
  }
})();
