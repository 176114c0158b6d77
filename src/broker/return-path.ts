// Where a person may be sent back to after signing in: a path of our own pages, never another host. Pure.
// Browsers read backslashes as slashes and drop tabs and line breaks, so a text is refused rather than repaired.
import { AppError } from '../lib/errors.ts'

const longest = 512

/** The path and query to go to; `/` when nothing was asked. Throws `invalid_request` for anything that could lead away. */
export function safeReturnPath(text: string | undefined): string {
  if (text === undefined || text === '') return '/'
  const refused = new AppError('invalid_request', 'return_to must be a path of this site, such as /tenants/acme')
  if (text.length > longest || !/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*$/.test(text)) throw refused
  // %2F and %5C decode to separators in some servers and browsers.
  if (text.startsWith('//') || /^\/(%2f|%5c)/i.test(text)) throw refused
  const url = new URL(text, 'https://here.invalid')
  if (url.origin !== 'https://here.invalid') throw refused
  return `${url.pathname}${url.search}`
}
