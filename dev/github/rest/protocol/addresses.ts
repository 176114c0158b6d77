// The addresses under which REST is reached: below the web address as on an Enterprise Server (`/api/v3`), or on a host of its own
// as on github.com (`api.<host>`). Pure.
import type { IncomingMessage } from 'node:http'

const enterprisePrefix = '/api/v3'

/** The path that the server routes by; the same surface answers under every address. */
export function routedUrl(request: Pick<IncomingMessage, 'url' | 'headers'>, restPrefix: string): string {
  const url = request.url ?? '/'
  if (request.headers.host?.startsWith('api.')) return `${restPrefix}${url}`
  return url.startsWith(`${enterprisePrefix}/`) ? `${restPrefix}${url.slice(enterprisePrefix.length)}` : url
}
