// The inbox's list: one proposal beside it, several at once, undo, and notices on the desktop.
(() => {
  "use strict";
  const { beQuiet, hinted, isQuiet } = window.wakelog;
  const isWide = matchMedia("(min-width: 1000px)");
  const root = document.documentElement.dataset.root || ""; // of one home among many
  const page = () => document.getElementById("page");
  const pane = () => document.getElementById("pane");
  const selection = () => document.getElementById("selection");
  const rows = () => [...document.querySelectorAll(".list .item:not(.is-kept)")];
  const picks = () => [...document.querySelectorAll(".pick")];
  const picked = () => picks().filter((one) => one.checked);

  // ------------------------------------------------------------------------------------ one
  // What is chosen by a key or a click stands in the pane; after an answer to a click it stays
  // until something else is chosen: another verdict would come under the pointer.
  let isByPointer = false;
  let asking = null;
  async function choose(row) {
    if (!isWide.matches || !pane()) return;
    if (asking) asking.abort();
    for (const one of document.querySelectorAll(".list [aria-current]")) one.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    const url = new URL(row.querySelector(".entry").href);
    history.replaceState(null, "", url);
    if (pane().dataset.item === row.id) return;
    asking = new AbortController();
    url.searchParams.set("part", "pane");
    const made = await fetch(url, { signal: asking.signal }).then(read).catch(() => null);
    if (!made || !row.isConnected || row.getAttribute("aria-current") !== "true") return;
    pane().replaceWith(document.adoptNode(made));
    htmx.process(pane());
  }
  async function read(answer) {
    const text = answer.ok ? await answer.text() : "";
    return new DOMParser().parseFromString(text, "text/html").getElementById("pane");
  }
  document.addEventListener("pointerdown", () => { isByPointer = true; }, true);
  document.addEventListener("keydown", () => { isByPointer = false; }, true);
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest(".list .item");
    if (row && !isByPointer && rows().includes(row)) choose(row);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".list .entry");
    const isPlain = link && !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
    if (!isPlain || !isWide.matches) return;
    event.preventDefault();
    link.closest(".item").focus({ preventScroll: true });
    choose(link.closest(".item"));
  });
  document.addEventListener("wakelog:choose", (event) => choose(event.target));

  // -------------------------------------------------------------------------------- several
  function count() {
    const number = picked().length;
    const told = document.getElementById("selected");
    if (!told) return;
    told.textContent = number ? ` (${number})` : "";
    document.getElementById("spoken").textContent = number ? `${number} selected` : "";
    selection().querySelector("[data-all=c]").disabled = !number;
  }
  document.addEventListener("change", (event) => { if (event.target.matches(".pick")) count(); });
  let chosen = []; // what was selected stays so on the next page, if it is as it was
  document.addEventListener("htmx:before:swap", () => { chosen = picked().map((one) => one.value); });
  document.addEventListener("htmx:after:swap", () => {
    for (const one of picks()) one.checked = one.checked || chosen.includes(one.value);
    count();
    offer();
    const row = document.activeElement && document.activeElement.closest(".list .item");
    if (row && !isByPointer && rows().includes(row)) choose(row); // the address says so, too
  });

  function several(letter) {
    const found = selection().querySelector(`[data-all="${letter}"]`);
    if (!found) hinted("One at a time is edited: take the marks off first.");
    else if (found.tagName !== "DETAILS") found.click();
    else {
      found.open = true;
      found.querySelector("input").focus();
    }
  }
  function mark() {
    const row = document.activeElement && document.activeElement.closest(".list .item");
    const box = row && row.querySelector(".pick");
    if (!box) { hinted("Choose a proposal first, by j or k."); return; }
    box.checked = !box.checked;
    count();
  }
  function keys() {
    const list = document.getElementById("shortcuts");
    list.open = !list.open;
    if (list.open) list.querySelector("summary").focus();
  }
  const undo = () => document.querySelector("#undo-last button").click();
  const DEEDS = { x: mark, "?": keys, u: undo };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Enter" && event.target.id === "why-selected") {
      event.preventDefault();
      if (!event.repeat) selection().querySelector("[value=reject]").click();
      return;
    }
    if (event.key === "Enter" && event.target.id === "until-selected") {
      event.preventDefault();
      if (!event.repeat) selection().querySelector("[value=day]").click();
      return;
    }
    if (event.key === "Escape") { close(event.target); return; }
    const isOfMany = "crez".includes(event.key) && event.key.length === 1 && picked().length > 0;
    if (!(event.key in DEEDS || isOfMany) || page().dataset.keys === "off") return;
    if (event.target.closest("form, summary, input, textarea, select") || event.repeat) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    hinted("");
    if (isQuiet()) return;
    if (event.key !== "x" && event.key !== "?") beQuiet();
    if (isOfMany) several(event.key);
    else DEEDS[event.key]();
  }, true);
  function close(target) { // a form over the pane, or over the list: back to what it is about
    const open = target.closest(".acts details[open], .selection details[open]");
    if (!open) return;
    open.open = false;
    const row = document.getElementById(open.closest("#pane") ? pane().dataset.item : "");
    (row || open.querySelector("summary")).focus();
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
    if (!document.hidden || !isOn()) return;
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
  offer();
})();
