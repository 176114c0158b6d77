// The URLs of REST: below the web URL as on an Enterprise Server (`/api/v3`), or on its own host as on github.com (`api.<host>`).
import type { IncomingMessage } from 'node:http'

const enterprisePrefix = '/api/v3'

/** The path by which the server routes; the same API answers under every URL. */
export function routedUrl(request: Pick<IncomingMessage, 'url' | 'headers'>, restPrefix: string): string {
  const url = request.url ?? '/'
  if (request.headers.host?.startsWith('api.')) return `${restPrefix}${url}`
  return url.startsWith(`${enterprisePrefix}/`) ? `${restPrefix}${url.slice(enterprisePrefix.length)}` : url
}
