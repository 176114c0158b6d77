// Answers requests of a static site. Ranges, preconditions and streaming are those of `send`, the library of Express; which file
// and which headers is decided by answer.ts. It reads only listed files, and never writes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import send from 'send'
import { type Answer, answerTo, type Site } from './answer.ts'
import type { ServedSite } from './site.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Of a request for another file than the one that is sent. */
const aboutAnotherFile = ['range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']

export function siteHandler({ folder, files, ...rules }: ServedSite): Handler {
  const site: Site = { ...rules, files: new Map(files) }
  return (request, response) => {
    const { method = '', url = '', headers } = request
    const answer = answerTo(site, {
      method,
      url,
      host: headers.host,
      protocol: single(headers['x-forwarded-proto']),
      acceptEncoding: single(headers['accept-encoding']),
    })
    for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
    response.statusCode = answer.status
    if (answer.kind === 'text') response.end(method === 'HEAD' ? undefined : answer.text)
    else sendFile(request, response, answer, folder)
  }
}

function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { path, status }: Extract<Answer, { kind: 'file' }>,
  folder: string,
): void {
  if (status !== 200) for (const name of aboutAnotherFile) delete request.headers[name]
  const options = {
    root: folder,
    dotfiles: 'allow',
    index: false,
    etag: false,
    lastModified: false,
    cacheControl: false,
  } as const
  send(request, path.split('/').map(encodeURIComponent).join('/'), { ...options, acceptRanges: status === 200 })
    .on('error', (error: Failure) => fail(response, error))
    .pipe(response)
}

/** Of `send`: 412 and 416, or a file that cannot be read. */
type Failure = Error & { readonly status?: number; readonly headers?: Readonly<Record<string, string>> }

function fail(response: ServerResponse, error: Failure): void {
  const { status = 500 } = error
  if (status >= 500) console.error(error)
  if (response.headersSent) {
    response.destroy()
    return
  }
  for (const name of ['content-encoding', 'content-length', 'etag', 'cache-control']) response.removeHeader(name)
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...error.headers })
  response.end(status >= 500 ? 'internal error\n' : `${error.message.toLowerCase()}\n`)
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
