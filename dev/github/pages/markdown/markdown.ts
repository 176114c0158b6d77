// Descriptions and comments as GitHub shows them: GitHub Flavored Markdown, by a library; HTML in it is shown as text, comments
// are left out, and links lead to web pages only. Nothing of it can widen the page or run.
// Source: https://github.github.com/gfm/
import { Marked, type Tokens } from 'marked'
import { Html, html } from '../html.ts'

const longest = 65_536

function isWebAddress(href: string): boolean {
  return URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol)
}

const reader = new Marked({
  gfm: true,
  // GitHub keeps the line breaks of comments.
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text.replaceAll(/<!--[\s\S]*?-->/g, '')}`.text,
    link({ href, tokens }: Tokens.Link) {
      const text = new Html(this.parser.parseInline(tokens))
      return (isWebAddress(href) ? html`<a href="${href}" rel="nofollow noopener">${text}</a>` : html`${text}`).text
    },
    // Images of other servers are not loaded.
    image: ({ href, text }: Tokens.Image) =>
      (isWebAddress(href) ? html`<a href="${href}" rel="nofollow noopener">${text || href}</a>` : html`${text}`).text,
  },
})

/** Safe HTML in a box that scrolls by itself where a line or a table is wide. */
export function markdown(text: string | null): Html {
  return html`<div class="markdown">${new Html(reader.parse((text ?? '').slice(0, longest), { async: false }))}</div>`
}
