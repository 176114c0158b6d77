// Owns: the addresses under which REST is reached: below the web address as on an Enterprise Server (`/api/v3`, `/api/uploads`), or on
// hosts of its own as on github.com (`api.<host>`, `uploads.<host>`). Pure.
import type { IncomingMessage } from 'node:http'

/** Where the upload host lives as a path. */
export const uploadsPrefix = '/api/uploads'
const enterprisePrefix = '/api/v3'

/** The path that the server routes by; the same surface answers under every address. */
export const routedUrl = (request: Pick<IncomingMessage, 'url' | 'headers'>, restPrefix: string): string => {
  const url = request.url ?? '/'
  const host = request.headers.host ?? ''
  if (host.startsWith('api.')) return `${restPrefix}${url}`
  if (host.startsWith('uploads.')) return `${uploadsPrefix}${url}`
  return url.startsWith(`${enterprisePrefix}/`) ? `${restPrefix}${url.slice(enterprisePrefix.length)}` : url
}
