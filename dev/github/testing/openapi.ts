// Checks REST responses against GitHub's own OpenAPI description (the package @octokit/openapi). A response that the
// description does not have, or whose body does not fit, fails the test that caused it. It never changes the description to
// make a response fit, but for one schema that nothing can fit.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import type { RestRoute } from '../rest/route.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

export type Described = {
  /** A fetch whose responses are checked; for `request: { fetch }` of Octokit. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** `METHOD /path` of every route that has responded with success so far. */
  readonly succeeded: ReadonlySet<string>
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** OpenAPI 3.0 says `nullable`, JSON Schema says `type: null`. */
function withoutNullable(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNullable)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    key === 'example' ? inner : withoutNullable(inner),
  ])
  const { nullable, ...rest } = Object.fromEntries(entries)
  if (nullable !== true) return Object.fromEntries(entries)
  const { enum: choices, type } = rest
  if (typeof type !== 'string') return { anyOf: [rest, { type: 'null' }] }
  return { ...rest, type: [type, 'null'], ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}) }
}

/**
 * The one correction: the schemas in the list of installations are written out, and there `account` must fit a person's and an
 * enterprise's account at once (`allOf`), which nothing does. The description of one installation has `anyOf`; the list is
 * checked against that.
 */
function withReadableInstallations(paths: Json): Json {
  const path = '/app/installations'
  const list = isObject(paths) ? at(paths, [path, 'get', 'responses', '200']) : undefined
  if (!isObject(paths) || !isObject(list)) return paths
  const schema = { type: 'array', items: { $ref: '#/components/schemas/installation' } }
  const get = { responses: { '200': { ...list, content: { 'application/json': { schema } } } } }
  return { ...paths, [path]: { get } }
}

function readDescription(name: string): JsonObject {
  const file = createRequire(import.meta.url).resolve(`@octokit/openapi/generated/${name}.json`)
  const parsed = JSON.parse(readFileSync(file, 'utf8')) as JsonObject
  const { paths = {}, components = {} } = parsed
  return { $id: 'github', paths: withoutNullable(withReadableInstallations(paths)), components: withoutNullable(components) }
}

function pointer(parts: readonly string[]): string {
  return parts.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
}

function at(document: JsonObject, parts: readonly string[]): Json | undefined {
  let value: Json | undefined = document
  for (const part of parts) value = isObject(value) ? value[part] : undefined
  return value
}

/** The formats of the descriptions. */
export const formats = {
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/,
  // The description's own default of unset addresses (`target_url`) is the empty string.
  uri: (text: string): boolean => text === '' || URL.canParse(text.replace(/\{[^}]*\}/g, '')),
  email: /^[^@\s]+@[^@\s]+$/,
}

const basicError = ['components', 'schemas', 'basic-error']

function pathPattern(path: string, greedy: boolean): RegExp {
  const pattern = path.replace(/\{\w+\}/g, (_name, offset: number) =>
    greedy && path.indexOf('}', offset) === path.length - 1 ? '.+' : '[^/]+',
  )
  return new RegExp(`^${pattern}$`)
}

/** The errors of a body; empty when it fits. */
function faultsOf(validate: ValidateFunction, body: unknown): readonly string[] {
  if (validate(body)) return []
  return (validate.errors ?? []).slice(0, 8).map(one => `${one.instancePath} ${one.message}`)
}

/** Literal segments come before parameters when two routes fit. */
function literalness(path: string): number {
  return path.replace(/\{\w+\}/g, '').length
}

/** Reads the description on each call, which takes about a second. `apiUrl` is removed from the URLs. */
export function describeAnswers(
  routes: readonly RestRoute[],
  apiUrl: string,
  description: 'ghes-3.19' | 'api.github.com' = 'ghes-3.19',
): Described {
  const document = readDescription(description)
  const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false, validateFormats: true, formats, logger: false })
  ajv.addSchema(document)
  const compiled = new Map<string, ValidateFunction>()
  const succeeded = new Set<string>()

  const validator = (parts: readonly string[]): ValidateFunction => {
    const key = pointer(parts)
    const known = compiled.get(key) ?? ajv.compile({ $ref: `github#/${key}` })
    compiled.set(key, known)
    return known
  }

  const routeOf = (method: string, path: string): RestRoute => {
    const fitting = routes
      .filter(route => route.method === method)
      .flatMap(route => [route.path, ...(route.byId === undefined ? [] : [route.byId])].map(form => ({ route, form })))
      .filter(({ route, form }) => pathPattern(form, route.greedy === true).test(path))
    const [best] = fitting.sort((left, right) => literalness(right.form) - literalness(left.form))
    if (!best) throw new Error(`${method} ${path} is not a route of the emulator`)
    return best.route
  }

  /** The path in the description of the response with this status; `undefined` when it has none. */
  const responseOf = (route: RestRoute, status: number): readonly string[] | undefined => {
    const operation = ['paths', route.path, route.method.toLowerCase()]
    if (at(document, operation) === undefined) throw new Error(`${route.method} ${route.path} is not in GitHub's description`)
    const response = [...operation, 'responses', String(status)]
    if (at(document, response) === undefined) return undefined
    const reference = at(document, [...response, '$ref'])
    return typeof reference === 'string' ? reference.slice(2).split('/') : response
  }

  /** The schema of a response; `undefined` when it has no body. Every error has a body, also where the description omits it. */
  const schemaOf = (route: RestRoute, status: number): readonly string[] | undefined => {
    const response = responseOf(route, status)
    if (response === undefined && status < 400)
      throw new Error(`${route.method} ${route.path} responds with ${status}, which is not in GitHub's description`)
    const schema = response && [...response, 'content', 'application/json', 'schema']
    const described = schema && at(document, schema) !== undefined
    if (status < 400) return described ? schema : undefined
    // Of several error schemas in one `oneOf`, all fit at once.
    return described && at(document, [...schema, 'oneOf']) === undefined ? schema : basicError
  }

  const check = (method: string, path: string, status: number, text: string): void => {
    const route = routeOf(method, path)
    // The redirect of a former name is the same for every route; the description has it for some of them only.
    const redirected = status === 301 || status === 307
    if (status < 400 && !redirected) succeeded.add(`${route.method} ${route.path}`)
    if (status === 304) return
    const schema = redirected ? basicError : schemaOf(route, status)
    if (schema === undefined && text !== '')
      throw new Error(`${method} ${path} (${status}) has a body; GitHub's response has none`)
    if (schema === undefined) return
    const faults = faultsOf(validator(schema), JSON.parse(text))
    if (faults.length > 0)
      throw new Error(`${method} ${path} (${status}) does not match GitHub's description:\n${faults.join('\n')}`)
  }

  /** Follows redirects itself, so that each response is checked; a URL outside of REST is only loaded. */
  const checkedFetch = async (url: string, init: RequestInit & { method: string }, hops = 5): Promise<Response> => {
    const response = await fetch(url, init)
    if (!url.startsWith(`${apiUrl}/`)) return response
    const path = new URL(url).pathname.slice(new URL(apiUrl).pathname.length)
    check(init.method, path, response.status, await response.clone().text())
    const location = response.headers.get('location')
    if (location === null || response.status < 300 || response.status >= 400) return response
    if (hops === 0) throw new Error(`${init.method} ${path} has too many redirects`)
    return checkedFetch(new URL(location, url).toString(), init, hops - 1)
  }

  return {
    succeeded,
    fetch: async (input, init) => {
      const first = input instanceof Request ? input.url : String(input)
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
      return checkedFetch(first, { ...init, method, redirect: 'manual' })
    },
  }
}
