// HTML by tagged templates that escape by default: a page cannot be made from text without passing here.
// Owns escaping only; what a page says is the business of the process that shows it.

/** Text that is already HTML. Made by `html` alone, so that outside text cannot be one. */
export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

type Part = Html | string | number | undefined | false | readonly Part[]

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}

function rendered(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.toString()
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  return part.map(rendered).join('')
}

/** Values are escaped unless they are Html themselves; `undefined` and `false` show nothing. Attributes must be quoted in the template. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, piece, index) => text + piece + (index < parts.length ? rendered(parts[index]) : ''), ''))
}
