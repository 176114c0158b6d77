// The one style sheet. Served from our own address, because pages forbid inline styles.
export const styleSheet = `
:root { color-scheme: light dark; --ink: #1d2733; --paper: #fbfaf7; --line: #d9d4c7; --accent: #9a3324; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e4da; --paper: #1b1e22; --line: #3b4048; --accent: #e58a78; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; padding: .8rem 1.5rem; border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; letter-spacing: .06em; text-decoration: none; color: var(--accent); }
nav a { margin-right: 1rem; }
.who { margin-left: auto; display: flex; gap: .8rem; align-items: center; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
a { color: var(--accent); }
table { border-collapse: collapse; width: 100%; }
h1, code, td { overflow-wrap: anywhere; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
pre { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; user-select: all; }
pre.log { max-height: 70vh; overflow: auto; font-size: .85rem; user-select: text; white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
button, .button { font: inherit; padding: .45rem .9rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: var(--paper); cursor: pointer; text-decoration: none; display: inline-block; }
button.quiet { background: transparent; color: var(--accent); }
form.inline { display: inline; margin: 0; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; }
label { display: block; padding: .2rem 0; }
input[type=text] { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px; }
[role=alert] { border-left: 4px solid var(--accent); padding: .5rem .8rem; }
caption { text-align: left; font-size: .85rem; opacity: .75; padding: .2rem 0; }
footer.live { max-width: 46rem; margin: 0 auto; padding: 0 1.5rem 1.5rem; font-size: .85rem; }
h3 { font-size: 1rem; margin-top: 1.4rem; }
h2, h3, li, p { overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main:has(.stack), main:has(.stack) + footer.live { max-width: 78rem; }
.word, button { white-space: nowrap; }
@media (max-width: 56rem) {
  main { padding: 1rem; }
  .word { white-space: normal; }
  .stack, .stack caption, .stack tbody, .stack tr, .stack th, .stack td { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .stack th, .stack td { padding: .1rem 0; border: 0; overflow-wrap: anywhere; }
  .stack td::before { content: attr(data-label) ": "; opacity: .75; }
  .stack td:empty { display: none; }
}
.fine { font-size: .85rem; opacity: .75; }
`
