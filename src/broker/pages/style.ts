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
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
pre { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; user-select: all; }
button, .button { font: inherit; padding: .45rem .9rem; border: 1px solid var(--accent); border-radius: 6px; background: var(--accent); color: var(--paper); cursor: pointer; text-decoration: none; display: inline-block; }
button.quiet { background: transparent; color: var(--accent); }
form.inline { display: inline; margin: 0; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; }
label { display: block; padding: .2rem 0; }
input[type=text] { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 6px; }
[role=alert] { border-left: 4px solid var(--accent); padding: .5rem .8rem; }
.fine { font-size: .85rem; opacity: .75; }
`
