// Decides where a person may be sent after signing in: to a path of our own pages, never to another host. Pure. Browsers read
// backslashes as slashes and drop tabs and line breaks, so a text is refused rather than repaired. A path with dots or empty
// segments is refused too: `/.//evil.example` is normalised to `//evil.example`, which is another host (RFC 3986 §4.2).
import { AppError } from '../../../lib/errors.ts'

/** The longest request of an OIDC client that a person continues after signing in. */
const longest = 1500

/** The path and query to go to; `/` for none. Throws `invalid_request` for a text that could lead to another host. */
export function safeReturnPath(text: string | undefined): string {
  if (text === undefined || text === '') return '/'
  const refused = new AppError('invalid_request', 'return_to must be a path of this site, such as /tenants/acme')
  if (text.length > longest || !/^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*$/.test(text)) throw refused
  const [path = ''] = text.split('?', 1)
  // %2F and %5C decode to separators in some servers and browsers, %2E to a dot everywhere.
  if (/\/\/|%2f|%5c|%2e|\/\.{1,2}(\/|$)/i.test(path)) throw refused
  return text
}
