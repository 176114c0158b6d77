// The one style sheet. Served from our own address, because pages forbid inline styles.
export const styleSheet = `
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fbfaf7; --line: #d9d4c7; --accent: #9a3324; --quiet: #4d5560;
  --bad: #a3201b; --waiting: #7a4d00; --progress: #1d5c94; --good: #1a6634; --off: #565d66; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e4da; --paper: #1b1e22; --line: #3b4048; --accent: #e58a78; --quiet: #b5b3ad;
    --bad: #ff9c90; --waiting: #e6bb66; --progress: #8fc1f0; --good: #84cf98; --off: #aeb3ba; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; padding: .8rem 1.5rem; border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; letter-spacing: .06em; text-decoration: none; color: var(--accent); }
nav a { margin-right: 1rem; }
.who { margin-left: auto; display: flex; gap: .8rem; align-items: center; }
main, footer { max-width: 46rem; margin: 0 auto; padding: 1.5rem; }
main:has(.stack), main:has(.stack) + footer { max-width: 78rem; }
main:focus { outline: none; }
footer { padding-top: 0; font-size: .85rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-top: 1.4rem; }
a { color: var(--accent); }
header a, footer a, td a, th a, .pages a, .filter a, .fine a { display: inline-block; min-height: 24px; line-height: 24px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: break-word; }
h1, h2, h3, li, p, code, .fine, .any { overflow-wrap: anywhere; }
.word, button { white-space: nowrap; overflow-wrap: normal; }
caption { text-align: left; font-size: .85rem; color: var(--quiet); padding: .2rem 0; }
.fine { font-size: .85rem; color: var(--quiet); }
.sign { display: inline-block; font-weight: 600; }
.bad { color: var(--bad); }
.waiting { color: var(--waiting); }
.progress { color: var(--progress); }
.good { color: var(--good); }
.off { color: var(--off); }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: .5rem; top: -4rem; padding: .4rem .8rem; background: var(--paper); border: 2px solid var(--accent); z-index: 1; }
.skip:focus { top: .5rem; }
pre { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; user-select: all; }
pre.log { max-height: 70vh; overflow: auto; font-size: .85rem; user-select: text; white-space: pre-wrap; overflow-wrap: anywhere; }
button, .button { font: inherit; padding: .45rem .9rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: var(--paper); cursor: pointer; text-decoration: none; display: inline-block; }
button.quiet { background: transparent; color: var(--accent); }
form.inline { display: inline; margin: 0; }
form.filter { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; }
label { display: block; padding: .2rem 0; }
input[type=radio], input[type=checkbox] { width: 24px; height: 24px; vertical-align: middle; }
input[type=text], input[type=datetime-local], select { font: inherit; min-height: 24px; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px; color: inherit; background: var(--paper); max-width: 100%; }
[role=alert] { border-left: 4px solid var(--accent); padding: .5rem .8rem; }
summary { min-height: 24px; padding: .2rem 0; cursor: pointer; }
summary h3 { display: inline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 56rem) {
  main { padding: 1rem; }
  .word, button { white-space: normal; overflow-wrap: anywhere; }
  .stack, .stack caption, .stack tbody, .stack tr, .stack th, .stack td { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .stack th, .stack td { padding: .1rem 0; border: 0; overflow-wrap: anywhere; }
  .stack td[data-label]::before { content: attr(data-label) ": "; color: var(--quiet); }
  .stack td:empty { display: none; }
}
`
