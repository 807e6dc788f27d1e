// The slider of a life: another moment without a reload, and play.
(() => {
  "use strict";
  const WAIT_MS = 120;
  const PLAY_MS = 1200;
  const slider = () => document.getElementById("nth");
  let wanted = 0;
  let timer = 0;
  let playing = 0;

  async function show() {
    const nth = Number(slider().value);
    wanted = nth;
    const url = new URL(location.href);
    for (const name of ["at", "on", "nth", "told"]) url.searchParams.delete(name);
    url.searchParams.set("nth", nth);
    const answer = await fetch(url).catch(() => null);
    if (!answer || !answer.ok || wanted !== nth) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const moment = page.getElementById("moment");
    if (!moment || wanted !== nth) return;
    for (const one of ["#moment", ".timeline", ".steps-of"]) {
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
    document.querySelector("[data-play]").textContent = "Play";
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
})();
