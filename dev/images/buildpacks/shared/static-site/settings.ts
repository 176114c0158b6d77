// Reads static.json, as at https://github.com/heroku/heroku-buildpack-static. A value of the wrong form fails the build; a key
// that has no effect here is named, because people rely on what they wrote.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { BuildFailure } from '../build-failure.ts'
import { refuseConflict } from '../text-file.ts'
import { patternProblem } from './server/path-pattern.ts'
import type { HeaderRule, RedirectRule, RouteRule } from './server/site.ts'

export type StaticSettings = {
  readonly root: string | undefined
  readonly notFound: string | undefined
  readonly cleanUrls: boolean
  readonly httpsOnly: boolean
  readonly headers: readonly HeaderRule[]
  readonly routes: readonly RouteRule[]
  readonly redirects: readonly RedirectRule[]
  /** A line of the log for each key without effect. */
  readonly ignored: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const known = ['root', 'error_page', 'clean_urls', 'https_only', 'headers', 'routes', 'redirects']
/** What the keys of Heroku would do, and what does it here. */
const cures: Readonly<Record<string, string>> = {
  proxies: 'serve the other application under a host name of its own',
  canonical_host: 'list the host in spec.domains of the Application',
  logging: 'requests are not logged',
  encoding: 'text is served as UTF-8',
  build: 'build the site with a package.json whose script build does it',
}
const maxRules = 100
/** They belong to the connection or to how the file is sent. */
const reservedHeaders =
  /^(?:connection|content-encoding|content-length|content-range|date|etag|keep-alive|location|trailer|transfer-encoding|upgrade|vary)$/

/** @throws BuildFailure that names the key */
export function readStaticSettings(text: string | undefined): StaticSettings {
  const value = text === undefined ? {} : parse(text)
  if (value['basic_auth'] !== undefined && value['basic_auth'] !== false)
    throw fault(
      'basic_auth',
      'is not supported, and without it everybody could read the site: remove it, or serve the site by a program that asks for a password',
    )
  return {
    root: value['root'] === undefined ? undefined : inside('root', value['root']),
    notFound: value['error_page'] === undefined ? undefined : inside('error_page', value['error_page']),
    cleanUrls: flag(value, 'clean_urls'),
    httpsOnly: flag(value, 'https_only'),
    headers: rules(value, 'headers').map(([pattern, headers]) => ({ pattern, headers: headersOf(pattern, headers) })),
    routes: rules(value, 'routes').map(([pattern, target]) => ({ pattern, target: targetOf(pattern, target) })),
    redirects: rules(value, 'redirects').map(([pattern, target]) => ({ pattern, ...redirectOf(pattern, target) })),
    ignored: Object.keys(value)
      .filter(
        key => !known.includes(key) && value[key] !== false && !(key === 'encoding' && /^utf-?8$/i.test(String(value[key]))),
      )
      .map(
        key =>
          `static.json: ${JSON.stringify(key.slice(0, 50))} has no effect here${cures[key] === undefined ? '' : `: ${cures[key]}`}`,
      ),
  }
}

function parse(text: string): Fields {
  refuseConflict('static.json', text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof BuildFailure) throw error
    throw new BuildFailure(`static.json is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isRecord(value)) throw new BuildFailure('static.json must contain an object')
  return value
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fault(key: string, problem: string): BuildFailure {
  return new BuildFailure(`static.json: ${key} ${problem}`)
}

function flag(value: Fields, key: string): boolean {
  const found = value[key] ?? false
  if (typeof found !== 'boolean') throw fault(key, 'must be true or false')
  return found
}

/** Values by pattern, in the order of the file. */
function rules(value: Fields, key: string): readonly (readonly [string, unknown])[] {
  const found = value[key] ?? {}
  if (!isRecord(found)) throw fault(key, 'must be an object whose keys are paths, such as "/**"')
  const entries = Object.entries(found)
  if (entries.length > maxRules) throw fault(key, `has more than ${maxRules} entries`)
  for (const [pattern] of entries) {
    const problem = patternProblem(pattern)
    if (problem !== undefined) throw fault(`${key}[${JSON.stringify(pattern.slice(0, 50))}]`, problem)
  }
  return entries
}

function headersOf(pattern: string, value: unknown): Readonly<Record<string, string>> {
  const key = `headers[${JSON.stringify(pattern)}]`
  if (!isRecord(value)) throw fault(key, 'must be an object with a value for each header')
  const entries = Object.entries(value).map(([name, text]) => {
    const lower = name.toLowerCase()
    if (typeof text !== 'string') throw fault(`${key}.${name}`, 'must be a string')
    try {
      validateHeaderName(lower)
      validateHeaderValue(lower, text)
    } catch {
      throw fault(`${key}.${name}`, 'is not a header of HTTP with one line of ASCII')
    }
    if (reservedHeaders.test(lower)) throw fault(`${key}.${name}`, 'is set by the server itself: remove it')
    return [lower, text] as const
  })
  return Object.fromEntries(entries)
}

/** A folder as the target leaves paths without a file as they are. */
function targetOf(pattern: string, value: unknown): string | undefined {
  const key = `routes[${JSON.stringify(pattern)}]`
  const path = inside(key, value)
  return String(value).endsWith('/') ? undefined : path
}

function redirectOf(pattern: string, value: unknown): Pick<RedirectRule, 'url' | 'status'> {
  const key = `redirects[${JSON.stringify(pattern)}]`
  const { url, status = 301 } = isRecord(value) ? value : { url: value }
  if (typeof url !== 'string' || !/^(?:https?:\/\/|\/)[\x21-\x7e]*$/.test(url) || /[<>"\\]/.test(url))
    throw fault(`${key}.url`, 'must be a path that begins with a slash, or a URL of http or https, without spaces')
  if (typeof status !== 'number' || ![301, 302, 303, 307, 308].includes(status))
    throw fault(`${key}.status`, 'must be 301, 302, 303, 307 or 308')
  return { url, status }
}

function inside(name: string, value: unknown): string {
  const path = typeof value === 'string' ? value.replace(/^(?:\.?\/)+|\/+$/g, '') : ''
  if (path === '' && (value === '.' || value === './' || value === '/')) return '.'
  if (path !== '' && !path.split('/').includes('..')) return path
  throw fault(name, 'must be a path inside the app')
}
