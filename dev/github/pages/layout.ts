// The frame of every page and the pieces that several pages share. Plain HTML that works without scripts.
import type { User } from '../state/accounts.ts'
import { type Html, html, type Part } from './html.ts'
import type { Visitor } from './session.ts'

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:0;color:#1f2328}header{background:#24292f;color:#fff;padding:.6em 1.5em}
header a{color:#fff;margin-right:1em}main{max-width:60em;margin:1.5em auto;padding:0 1em}table{border-collapse:collapse;width:100%}
td,th{text-align:left;border-bottom:1px solid #d0d7de;padding:.35em .6em;vertical-align:top}form.inline{display:inline}
button{font:inherit;padding:.3em 1em;border:1px solid #1f883d;background:#1f883d;color:#fff;border-radius:6px;cursor:pointer}
button.quiet{background:#f6f8fa;color:#24292f;border-color:#d0d7de}button.danger{background:#fff;color:#cf222e;border-color:#cf222e}
pre,.markdown{overflow-x:auto;max-width:100%}.markdown table{display:block;overflow-x:auto}main,td,li{overflow-wrap:anywhere}textarea,input{max-width:100%}
fieldset{border:1px solid #d0d7de;border-radius:6px;margin:1em 0}article{border:1px solid #d0d7de;border-radius:6px;padding:.3em 1em;margin:1em 0}code{background:#f6f8fa;padding:.1em .3em}.flash{background:#fff8c5;padding:.6em}`

function signedIn(user: User, formToken: string): Html {
  return html`<span>Signed in as <strong>${user.login}</strong></span>
<form class="inline" method="post" action="/logout"><input type="hidden" name="authenticity_token" value="${formToken}"><button class="quiet">Sign out</button></form>`
}

/** A whole page. */
export function page(title: string, visitor: Visitor | undefined, content: Part): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body><header><a href="/">GitHub emulator</a>${visitor ? signedIn(visitor.user, visitor.session.formToken) : html`<a href="/login">Sign in</a>`}</header>
<main><h1>${title}</h1>${content}</main></body></html>`
}

/** The hidden field that every form must carry. */
export function formToken(visitor: Visitor): Html {
  return html`<input type="hidden" name="authenticity_token" value="${visitor.session.formToken}">`
}

type ButtonOptions = {
  readonly fields?: Readonly<Record<string, string>>
  readonly look?: '' | 'quiet' | 'danger'
}

/** A form of one button. */
export function buttonForm(
  visitor: Visitor,
  action: string,
  label: string,
  { fields = {}, look = '' }: ButtonOptions = {},
): Html {
  return html`<form class="inline" method="post" action="${action}">${formToken(visitor)}${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="${look}">${label}</button></form>`
}

/** A table with a heading row. */
export function table(headings: readonly string[], rows: readonly (readonly Part[])[]): Html {
  return html`<table><thead><tr>${headings.map(one => html`<th>${one}</th>`)}</tr></thead><tbody>${rows.map(
    row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>`,
  )}</tbody></table>`
}
