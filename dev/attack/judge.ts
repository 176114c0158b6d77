// Reads who stopped an attempt from its answer. Pure. Nothing counts as stopped by default: an answer that is not recognised is
// unclear.
import { type Layer, stopped, succeeded, unclear, type Verdict } from './verdict.ts'
import type { HttpAnswer } from './world/http.ts'

/** How the API server's refusals read, most specific first. */
const refusals: readonly (readonly [RegExp, Layer])[] = [
  [/ValidatingAdmissionPolicy '[^']+'/, 'admission'],
  [/admission webhook "[^"]+" denied/, 'admission'],
  [/external ?IPs? .{0,40}denied by admission control/i, 'admission'],
  [/no PriorityClass with name|priorityClass is not permitted/i, 'quota'],
  [/violates PodSecurity/, 'Pod Security'],
  [/exceeded quota|failed quota|quota: /, 'quota'],
  [/attempting to grant RBAC permissions not currently held/, 'RBAC'],
  [/cannot (impersonate|[a-z]+) (resource|path|users|groups)|cannot set blockOwnerDeletion/i, 'RBAC'],
]

/** The message of a Status, or the text itself. */
export function messageOfAnswer(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return text
    if ('message' in parsed) return String(parsed.message)
    if ('error' in parsed) return typeof parsed.error === 'object' ? JSON.stringify(parsed.error) : String(parsed.error)
    return text
  } catch {
    return text
  }
}

/** The verdict on a request to the API server that must be refused. Every 2xx succeeded. */
export function judgeApi({ status, text }: HttpAnswer): Verdict {
  const message = messageOfAnswer(text)
  const evidence = `${status} ${message}`
  if (status >= 200 && status < 300) return succeeded(`${status} ${objectIn(text)}`)
  if (status === 401) return stopped('authentication', evidence)
  const recognised = refusals.find(([pattern]) => pattern.test(message))
  if (recognised !== undefined && (status === 403 || status === 422)) return stopped(recognised[1], evidence)
  if (status === 422 || (status === 400 && /invalid|unknown field|strict decoding|cannot be handled/i.test(message)))
    return stopped('schema', evidence)
  return unclear(evidence)
}

/** `Service attack-external`, or what there is. */
function objectIn(text: string): string {
  const kind = /"kind": ?"([A-Za-z]+)"/.exec(text)?.[1]
  const name = /"metadata": ?\{"name": ?"([^"]+)"/.exec(text)?.[1]
  return kind === undefined ? text : `${kind} ${name ?? ''}`
}

/** The same for kubectl, of which only the text is known. */
export function judgeKubectl({
  code,
  output,
  errors,
}: {
  readonly code: number
  readonly output: string
  readonly errors: string
}): Verdict {
  if (code === 0) return succeeded(output)
  const recognised = refusals.find(([pattern]) => pattern.test(errors))
  return recognised === undefined ? unclear(errors) : stopped(recognised[1], errors)
}

/** A request to the registry that must be refused. A 404 says that the request was allowed and the thing is not there. */
export function judgeRegistry({ status, text }: HttpAnswer): Verdict {
  const evidence = `${status} ${text}`
  if (status === 401 || status === 403) return stopped('registry', evidence)
  if (status === 405) return stopped('registry', `the registry does not offer it: ${evidence}`)
  return status < 500 && status !== 429 ? succeeded(`allowed: ${evidence}`) : unclear(evidence)
}

const refusedByBroker = new Set([400, 403, 404, 405, 409, 413, 415, 422, 429])

/** A request to the platform's pages or APIs that must be refused. `expected` narrows the statuses. */
export function judgeBroker({ status, text }: HttpAnswer, expected: readonly number[] = []): Verdict {
  const evidence = `${status} ${pageText(text)}`
  if (status === 401) return stopped('authentication', evidence)
  if (expected.length > 0 && !expected.includes(status)) return status < 400 ? succeeded(evidence) : unclear(evidence)
  if (status >= 300 && status < 400 && expected.includes(status)) return stopped('authentication', `${status}: to the sign-in`)
  if (refusedByBroker.has(status)) return stopped('broker', evidence)
  return status < 400 ? succeeded(evidence) : unclear(evidence)
}

/** A request for a token that must not be given. */
export function judgeDesk({ status, text }: HttpAnswer): Verdict {
  if (status === 200) return succeeded('200: a token was given')
  const isOwnError = text.includes('"error"')
  if (isOwnError && [400, 401, 403, 404, 413, 415, 429].includes(status))
    return stopped('token desk', `${status} ${messageOfAnswer(text)}`)
  return unclear(`${status} ${text}`)
}

/**
 * The git proxy answers in text, with the id of the request, as git shows it; to what is not a path of git, in the shape of all
 * errors.
 */
export function judgeGitProxy({ status, text }: HttpAnswer): Verdict {
  if (status === 200) return succeeded('200: git of GitHub was passed on')
  const isOwnError = /\(request [0-9a-f-]{36}\)|^\{"error":\{"code":"not_found",.*"requestId":"[0-9a-f-]{36}"/.test(text)
  if (isOwnError && [400, 401, 403, 404, 413, 429].includes(status)) return stopped('token desk', `${status} ${text}`)
  return unclear(`${status} ${text}`)
}

/** What a page says, without its markup. */
export function pageText(text: string): string {
  if (!text.includes('<html')) return messageOfAnswer(text)
  const main = /<main[^>]*>([\s\S]*?)<\/main>/.exec(text)?.[1] ?? text
  return main.replace(/<[^>]+>/g, ' ')
}
