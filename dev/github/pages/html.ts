// Safe HTML: a value in a template is escaped unless the template tag produced it.

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, character => escapes[character] ?? character)
}

export type Part = Html | string | number | undefined | readonly Part[]

function render(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'string') return escapeText(part)
  if (typeof part === 'number') return String(part)
  return part.map(render).join('')
}

/** Template tag: `html\`<p>${text}</p>\``. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, at) => text + string + (at < parts.length ? render(parts[at]) : ''), ''))
}
