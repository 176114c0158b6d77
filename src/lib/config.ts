// Reads a process's settings from environment variables by one table. Every problem is reported at once, with the variable's
// name and the cure. `<NAME>_FILE` may name a file that holds the value. The tables are data, from which
// docs/reference/environment.md is generated.
import { readFileSync } from 'node:fs'
import { AppError, messageOf } from './errors.ts'
import { SecretString } from './secret-string.ts'

export type Environment = { readonly [name: string]: string | undefined }

/** One setting: what people read about it, and how its text becomes a value. */
export type Setting<T> = {
  /** The environment variable. */
  readonly name: string
  readonly description: string
  readonly kind: 'text' | 'list' | 'integer' | 'url' | 'choice'
  /** The text that is parsed when the variable is not set. */
  readonly default?: string
  /** True when the value may be absent, in addition to having no default. */
  readonly optional?: boolean
  /** True when the value must never be shown. */
  readonly secret?: boolean
  /** Bounds of an integer, both inclusive. */
  readonly minimum?: number
  readonly maximum?: number
  readonly choices?: readonly string[]
  /** Throws an Error whose message says what is expected, such as `must be one of a, b`. */
  readonly parse: (text: string) => T
}

type Options = { readonly default?: string }

/** Marks a setting that may be absent; its value is then `undefined`. */
export function optional<T>(item: Setting<T>): Setting<T> & { readonly optional: true } {
  return { ...item, optional: true }
}

/** Any text except an empty one. */
export function textSetting(name: string, description: string, options: Options = {}): Setting<string> {
  return { name, description, kind: 'text', ...options, parse: text => text }
}

/** A text that is never shown. */
export function secretSetting(name: string, description: string, options: Options = {}): Setting<SecretString> {
  return { name, description, kind: 'text', secret: true, ...options, parse: text => new SecretString(text) }
}

/** A TCP port; 0 lets the system choose one. */
export function portSetting(name: string, description: string, options: Options = {}): Setting<number> {
  return integerSetting(name, description, { ...options, minimum: 0, maximum: 65_535 })
}

/** A whole number within bounds, both inclusive. */
export function integerSetting(
  name: string,
  description: string,
  options: Options & { readonly minimum: number; readonly maximum: number },
): Setting<number> {
  const { minimum, maximum } = options
  const parse = (text: string): number => {
    const value = Number(text)
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
  }
  return { name, description, kind: 'integer', ...options, parse }
}

/** An absolute http or https URL. */
export function urlSetting(name: string, description: string, options: Options = {}): Setting<URL> {
  const parse = (text: string): URL => {
    if (!URL.canParse(text)) throw new Error('must be an absolute URL such as https://sekisho.example.com')
    const url = new URL(text)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('must be an http or https URL')
    return url
  }
  return { name, description, kind: 'url', ...options, parse }
}

/** The items of a text, separated by commas. */
export function itemsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}

/** Items separated by commas, none by default. `read` throws an Error that continues the sentence “SEKISHO_… …”. */
export function listSetting<T>(
  name: string,
  description: string,
  read: (item: string) => T,
  options: Options = { default: '' },
): Setting<readonly T[]> {
  return { name, description, kind: 'list', ...options, parse: text => itemsOf(text).map(read) }
}

/** Refuses an item of a list that has another form than `form` describes. */
export function matching(pattern: RegExp, form: string): (item: string) => string {
  return item => {
    if (pattern.test(item)) return item
    throw new Error(`holds ${item.slice(0, 100)}; it must hold only ${form}`)
  }
}

/** One of a closed list of words. */
export function choiceSetting<const T extends string>(
  name: string,
  description: string,
  choices: readonly T[],
  options: Options = {},
): Setting<T> {
  const parse = (text: string): T => {
    const found = choices.find(choice => choice === text)
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
    return found
  }
  return { name, description, kind: 'choice', choices, ...options, parse }
}

/** The values of a table of settings. */
export type SettingsOf<S extends { readonly [key: string]: Setting<unknown> }> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? (S[K] extends { readonly optional: true } ? T | undefined : T) : never
}

function rawValue(environment: Environment, item: Setting<unknown>): string | undefined {
  const direct = environment[item.name]
  if (direct !== undefined && direct !== '') return direct
  const file = environment[`${item.name}_FILE`]
  if (file !== undefined && file !== '') return readFileSync(file, 'utf8').trimEnd()
  return item.default
}

/** The values of all settings, frozen. Throws one `invalid_configuration` that names every variable at fault. */
export function readSettings<S extends { readonly [key: string]: Setting<unknown> }>(
  settings: S,
  environment: Environment,
): SettingsOf<S> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(settings)) {
    try {
      const raw = rawValue(environment, item)
      if (raw !== undefined) values[key] = item.parse(raw)
      else if (!item.optional) problems.push(`${item.name} is not set: ${item.description}`)
    } catch (error) {
      problems.push(`${item.name} ${messageOf(error)}: ${item.description}`)
    }
  }
  if (problems.length > 0) throw unusable(problems)
  return Object.freeze(values) as SettingsOf<S>
}

/** The results of several readers. Throws one `invalid_configuration` with the problems of all of them. */
export function readTogether<R extends { readonly [name: string]: (environment: Environment) => unknown }>(
  readers: R,
  environment: Environment,
): { readonly [K in keyof R]: ReturnType<R[K]> } {
  const problems = new Set<string>()
  const values: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(readers)) {
    try {
      values[name] = read(environment)
    } catch (error) {
      for (const line of messageOf(error).split('\n- ').slice(1)) problems.add(line)
      if (!(error instanceof AppError && error.code === 'invalid_configuration')) throw error
    }
  }
  if (problems.size > 0) throw unusable([...problems])
  return Object.freeze(values) as { readonly [K in keyof R]: ReturnType<R[K]> }
}

function unusable(problems: readonly string[]): AppError {
  return new AppError('invalid_configuration', `configuration is not usable:\n- ${problems.join('\n- ')}`)
}

/** The environment of this process: the only place that reads it. */
export function processEnvironment(): Environment {
  return process.env
}
