// The fields of the forms above the audit pages. Pure. Times are in UTC, as everything in the log.
import { type Html, html } from '../../../web/html.ts'

type Field = { readonly name: string; readonly label: string; readonly value: string | undefined; readonly hint?: string }

export function textField({ name, label, value, hint }: Field): Html {
  return html`<label>${label} <input type="text" name="${name}" value="${value ?? ''}" maxlength="200"${hint !== undefined && html` placeholder="${hint}"`} autocomplete="off" spellcheck="false"></label>`
}

export function timeField({ name, label, value }: Field): Html {
  return html`<label>${label} (UTC) <input type="datetime-local" name="${name}" value="${value ?? ''}"></label>`
}

export function choiceField({ name, label, value }: Field, choices: readonly (readonly [value: string, text: string])[]): Html {
  const options = choices.map(
    ([choice, text]) => html`<option value="${choice}"${choice === value && html` selected`}>${text}</option>`,
  )
  return html`<label>${label} <select name="${name}">${options}</select></label>`
}

/** What the person can mend, above the form. */
export function problemText(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p role="alert">${problem}</p>`
}

/** A query of a page: fields without a value are left out. */
export function queryOf(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined && field[1] !== '')
  return new URLSearchParams(given).toString()
}
