// HTML by tagged templates that escape by default; every page is built with them. It owns escaping only: the content of a page
// belongs to the process that serves it.

/** Text that is already HTML. Only `html` creates it, so that untrusted text cannot be one. */
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

/** For element content and quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? '')
}

function rendered(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.toString()
  if (typeof part === 'string') return escapeHtml(part)
  if (typeof part === 'number') return String(part)
  return part.map(rendered).join('')
}

/**
 * Values are escaped unless they are Html; `undefined` and `false` render as nothing. Attributes must be quoted in the
 * template.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, piece, index) => text + piece + (index < parts.length ? rendered(parts[index]) : ''), ''))
}
