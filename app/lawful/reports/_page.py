"""The frame of an HTML report: one file with its own style and script, and no other request.

The policy in its head lets run exactly this script and this style, by their hashes: text that
got past the escaping would still do nothing.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Final

from ._plain import printable

__all__ = ["page"]

STYLE: Final = """
:root {
  color-scheme: light dark;
  --back: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d0d7de; --raised: #f6f8fa;
  --focus: #0a58ca;
  --pass-back: #e9f6ec; --pass: #14532d; --bad-back: #fde3e1; --bad: #8a1612;
  --error-back: #f5e3fb; --error: #66207c; --blocked-back: #fff0c9; --blocked: #634300;
  --gap-back: #e1f1f6; --gap: #0b4859; --known-back: #e4eafc; --known: #213e8b;
  --none-back: #eeeeee; --none: #454545;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --ink: #e4e7ea; --quiet: #9da7b1; --line: #363d45; --raised: #1c2126;
    --focus: #7ab7ff;
    --pass-back: #16281c; --pass: #a3dcb3; --bad-back: #481a1a; --bad: #ffc2bc;
    --error-back: #3a1c45; --error: #ecc0fb; --blocked-back: #3d3010; --blocked: #f7d987;
    --gap-back: #12303a; --gap: #a3dcee; --known-back: #1d2a4d; --known: #bccdff;
    --none-back: #2a2e33; --none: #c4c9ce;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 64rem; padding: 1.25rem 1rem 4rem;
  background: var(--back); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .25rem 0; }
ul, ol { margin: .25rem 0; padding-left: 1.4rem; }
a { color: inherit; text-underline-offset: .15em; }
code, pre { font: .875rem/1.45 ui-monospace, "Cascadia Mono", Menlo, monospace; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
.quiet { color: var(--quiet); font-size: .9rem; }
.verdict {
  display: inline-block; padding: .3rem .7rem; border-radius: .4rem; font-weight: 600;
}
.scroll { overflow-x: auto; margin: .5rem 0; }
.grid { border-collapse: separate; border-spacing: 3px; width: 100%; }
.grid.narrow { width: auto; }
.grid th { font-size: .85rem; text-align: left; padding: .15rem .3rem; white-space: nowrap; }
.grid thead th { vertical-align: bottom; }
.grid thead th span { display: inline-block; }
.grid td { padding: 0; }
.grid button {
  display: flex; gap: .35em; align-items: center; width: 100%; min-width: 1.9rem;
  min-height: 1.9rem; padding: .25rem .45rem; border: 1px solid transparent; border-radius: .3rem;
  font: inherit; font-size: .85rem; line-height: 1.3; cursor: pointer; white-space: nowrap;
}
.grid button:hover { border-color: currentColor; }
.grid button[aria-expanded="true"] { border-color: currentColor; box-shadow: 0 0 0 1px; }
.grid button.FAIL, .grid button.ERROR, .grid button.STALE, .grid button.MOVED {
  font-weight: 650;
}
.scores { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.scores th, .scores td { padding: .1rem .6rem; border-bottom: 1px solid var(--line); }
.scores th[scope="row"] { text-align: left; font-weight: 400; }
.scores td, .scores thead th:not(:first-child) { text-align: right; white-space: nowrap; }
.sign { display: inline-block; min-width: 1em; text-align: center; font-weight: 700; }
.PASS, .lawful { background: var(--pass-back); color: var(--pass); }
.FAIL, .STALE, .MOVED, .unlawful { background: var(--bad-back); color: var(--bad); }
.ERROR { background: var(--error-back); color: var(--error); }
.BLOCKED, .incomplete { background: var(--blocked-back); color: var(--blocked); }
.UNSUPPORTED, .NOT_YET { background: var(--gap-back); color: var(--gap); }
.KNOWN { background: var(--known-back); color: var(--known); }
.NOT_RUN { background: var(--none-back); color: var(--none); }
.tag {
  display: inline-block; padding: 0 .45rem; border-radius: .3rem; font-size: .85rem;
  white-space: nowrap;
}
.legend { display: flex; flex-wrap: wrap; gap: .3rem .5rem; list-style: none; padding: 0; }
#panel {
  margin: .75rem 0; padding: .9rem 1rem; border: 1px solid var(--line); border-radius: .5rem;
  background: var(--raised); scroll-margin: .5rem;
  position: sticky; bottom: .5rem; max-height: 55vh; overflow: auto;
  box-shadow: 0 .25rem 1rem rgb(0 0 0 / 18%);
}
.opened .grid button { scroll-margin-bottom: 58vh; }
#panel .close { margin-left: auto; }
#panel h3 { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: baseline; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
dd pre { margin: 0; }
pre {
  padding: .45rem .6rem; border: 1px solid var(--line); border-radius: .3rem;
  background: var(--back); white-space: pre-wrap; max-height: 24rem; overflow: auto;
}
.copied { display: flex; gap: .4rem; align-items: flex-start; }
.copied pre { flex: 1; min-width: 0; margin: 0; }
.copy, .toggle, .close {
  display: none; font: inherit; font-size: .8rem; padding: .35rem .6rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: .3rem; background: var(--back);
  color: var(--ink); white-space: nowrap;
}
.js .copy, .js .toggle, .js .close { display: inline-block; }
details > summary { cursor: pointer; padding: .2rem 0; }
.group { border-top: 1px solid var(--line); padding: .25rem 0; }
.group > summary { font-weight: 600; }
.check { margin-left: 1rem; }
.source { margin-left: 0; }
pre.source { margin: 0; border: 0; padding: 0 .6rem; max-height: none; white-space: pre; }
.source > summary { padding: 0 .6rem; list-style: none; }
.source > summary code { white-space: pre-wrap; }
.check > dl { margin: .25rem 0 .75rem 1.1rem; }
@media (max-width: 46rem) {
  body { padding: 1rem .5rem 3rem; }
  .grid { border-spacing: 2px; }
  .grid th { padding: .1rem .15rem; font-size: .8rem; }
  .grid tbody th { white-space: normal; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .5rem; }
  .check { margin-left: .25rem; }
}
@media (max-width: 46rem) {
  .grid.wide thead th:not(:first-child) { padding: .3rem .15rem; text-align: center; }
  .grid.wide thead th span { writing-mode: vertical-rl; transform: rotate(180deg); }
  .grid.wide button { justify-content: center; padding: .25rem 0; }
  .grid.wide .word {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
}
@media (max-width: 27rem) {
  .grid.few thead th:not(:first-child) { padding: .3rem .15rem; text-align: center; }
  .grid.few thead th span { writing-mode: vertical-rl; transform: rotate(180deg); }
  .grid.few button { justify-content: center; padding: .25rem 0; }
  .grid.few .word {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
}
@media (forced-colors: active) { .grid button, .tag, .verdict { border: 1px solid; } }
@media print { .copy, .toggle { display: none !important; } }
"""

SCRIPT: Final = """
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const panel = document.getElementById("panel");
  const buttons = Array.from(document.querySelectorAll(".grid button"));

  // Addresses are answered here; the browser's own jump to the entry would leave the grid.
  const checks = new Map();
  for (const check of document.querySelectorAll("details.check")) {
    checks.set(check.id, check);
    check.removeAttribute("id");
  }

  const reveal = (body, shown) => {
    body.hidden = !shown;
    for (const toggle of document.querySelectorAll(".toggle")) {
      if (toggle.getAttribute("aria-controls") === body.id) {
        toggle.setAttribute("aria-expanded", String(shown));
      }
    }
  };

  const show = (id) => {
    const check = checks.get(id);
    if (!check) return false;
    const title = document.createElement("h3");
    for (const part of check.querySelector("summary").childNodes) {
      title.append(part.cloneNode(true));
    }
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = "close";
    title.append(close);
    panel.replaceChildren(title, check.querySelector("dl").cloneNode(true));
    panel.hidden = false;
    for (const button of buttons) {
      button.setAttribute("aria-expanded", String(button.dataset.id === id));
    }
    document.documentElement.classList.add("opened");
    panel.scrollTop = 0;
    panel.scrollIntoView({ block: "nearest" });
    const button = buttons.find((each) => each.dataset.id === id);
    if (button) {
      reveal(button.closest("tbody"), true);
      rove(button);
      button.scrollIntoView({ block: "nearest" });
    }
    return true;
  };

  const hide = () => {
    const opened = buttons.find((button) => button.getAttribute("aria-expanded") === "true");
    panel.hidden = true;
    document.documentElement.classList.remove("opened");
    if (opened) {
      opened.setAttribute("aria-expanded", "false");
      opened.focus();
    }
  };

  const rove = (button) => {
    for (const other of button.closest("table").querySelectorAll("button")) other.tabIndex = -1;
    button.tabIndex = 0;
  };

  const fromAddress = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { return; }
    if (!id) return;
    show(id);
  };

  const rows = (table) => Array.from(table.querySelectorAll("tbody:not([hidden]) tr"));

  const target = (button, key, whole) => {
    const every = rows(button.closest("table"));
    const cell = button.closest("td");
    let row = every.indexOf(cell.parentElement);
    let column = cell.cellIndex;
    const last = cell.parentElement.cells.length - 1;
    if (key === "ArrowRight") column += 1;
    else if (key === "ArrowLeft") column -= 1;
    else if (key === "ArrowDown") row += 1;
    else if (key === "ArrowUp") row -= 1;
    else if (key === "Home") { column = 1; if (whole) row = 0; }
    else if (key === "End") { column = last; if (whole) row = every.length - 1; }
    else return null;
    const there = every[row] && every[row].cells[column];
    return (there && there.querySelector("button")) || button;
  };

  for (const table of document.querySelectorAll(".grid")) {
    const first = table.querySelector("tbody:not([hidden]) button");
    if (first) rove(first);
    table.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (show(button.dataset.id)) {
        history.replaceState(null, "", "#" + encodeURI(button.dataset.id).replaceAll("#", "%23"));
      }
    });
    table.addEventListener("keydown", (event) => {
      const button = event.target.closest("button");
      if (!button || event.altKey || event.metaKey) return;
      const next = target(button, event.key, event.ctrlKey);
      if (!next) return;
      event.preventDefault();
      rove(next);
      next.focus();
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) hide();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest(".close")) hide();
    const copy = event.target.closest(".copy");
    if (copy) {
      const source = copy.parentElement.querySelector("pre");
      const said = (text) => {
        copy.textContent = text;
        setTimeout(() => { copy.textContent = "copy"; }, 1500);
      };
      const mark = () => {
        getSelection().selectAllChildren(source);
        said("marked");
      };
      if (navigator.clipboard) {
        navigator.clipboard.writeText(source.textContent).then(() => said("copied"), mark);
      } else mark();
    }
    const toggle = event.target.closest(".toggle");
    if (toggle) {
      const body = document.getElementById(toggle.getAttribute("aria-controls"));
      reveal(body, body.hidden);
    }
  });

  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
"""


def page(title: str, body: str) -> str:
    """Return a whole page.

    Args:
        title: Its title, as text.
        body: What it shows, as HTML.
    """
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(printable(title))}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
