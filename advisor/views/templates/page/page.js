"use strict";
const all = (what, within = document) => [...within.querySelectorAll(what)];
const root = document.documentElement, told = document.getElementById("told");
root.classList.add("script");

const dark = matchMedia("(prefers-color-scheme: dark)"), theme = document.getElementById("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
dark.addEventListener("change", nameTheme);
nameTheme();

function selectAndCopy(code) {
  getSelection().selectAllChildren(code);
  return document.execCommand("copy");
}
async function copy(button) {
  const code = button.parentNode.querySelector("code");
  let done = true;
  try { await navigator.clipboard.writeText(code.textContent); } catch { done = selectAndCopy(code); }
  button.textContent = told.textContent = done ? "Copied" : "Select and copy by hand";
  setTimeout(() => { button.textContent = "Copy"; told.textContent = ""; }, 2000);
}
document.addEventListener("click", event => {
  const button = event.target.closest("button.copy");
  if (button) copy(button);
});

const table = document.getElementById("queries"), articles = document.getElementById("articles");
const packs = all("script.pack"), TOGETHER = 25;
async function unpack(pack) {
  const bytes = Uint8Array.from(atob(pack.textContent), char => char.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}
async function article(number) {
  const there = document.getElementById("q" + number);
  if (there || !packs.length) return there;
  const held = await unpack(packs[Math.floor((number - 1) / TOGETHER)]);
  articles.innerHTML = held[(number - 1) % TOGETHER];
  return document.getElementById("q" + number);
}
function unfold(part) { if (part?.tagName === "DETAILS") part.open = true; }
async function open() {
  const number = /^#q(\d+)/.exec(location.hash);
  const chosen = number && await article(Number(number[1]));
  all(".query").forEach(each => each.classList.toggle("open", each === chosen));
  root.classList.toggle("opened", Boolean(chosen));
  if (!chosen) { if (location.hash === "#all") table.querySelector("a").focus(); return; }
  const part = document.getElementById(location.hash.slice(1)) || chosen;
  unfold(part);
  part.scrollIntoView();
  if (part === chosen) chosen.focus({preventScroll: true});
}
function search(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !wanted.every(word => text.includes(word));
    shown += !row.hidden;
  }
  document.getElementById("found").textContent = wanted.length ? `${shown} of ${table.tBodies[0].rows.length}` : "";
}
function sort(heading) {
  const column = heading.cellIndex, body = table.tBodies[0];
  const number = heading.classList.contains("number") || body.rows[0]?.cells[column].dataset.sort !== undefined;
  const up = heading.ariaSort ? heading.ariaSort === "descending" : !number;
  const key = row => number ? Number(row.cells[column].dataset.sort) : row.cells[column].textContent.toLowerCase();
  const rows = [...body.rows].map(row => [key(row), row]);
  rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1));
  body.append(...rows.map(([, row]) => row));
  all("th", table.tHead).forEach(each => each.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
}
if (table) {
  const field = document.getElementById("search");
  all("thead button", table).forEach(button => button.addEventListener("click", () => sort(button.parentNode)));
  field.addEventListener("input", () => search(field.value));
  document.addEventListener("keydown", event => {
    if (event.key === "/" && event.target !== field) { event.preventDefault(); field.focus(); }
  });
  addEventListener("hashchange", open);
  open();
} else addEventListener("hashchange", () => unfold(document.getElementById(location.hash.slice(1))));

addEventListener("beforeprint", () => all("details:not([open])").forEach(each => { each.dataset.closed = ""; each.open = true; }));
addEventListener("afterprint", () => all("details[data-closed]").forEach(each => { delete each.dataset.closed; each.open = false; }));
