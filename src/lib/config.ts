// Reads a process's settings from environment variables by one table: every problem is reported at once, with the variable's name
// and the cure; values that are secrets become SecretString; the result is frozen. `NAME_FILE` may name a file that holds the value.
import { readFileSync } from 'node:fs'
import { AppError, messageOf } from './errors.ts'
import { SecretString } from './secret-string.ts'

export type Environment = { readonly [name: string]: string | undefined }

/** One setting: how to read it, and what to tell a person about it. `parse` throws an Error that says what is expected. */
export type Setting<T> = {
  readonly variable: string
  readonly description: string
  readonly defaultText?: string
  readonly optional?: boolean
  readonly secret?: boolean
  readonly parse: (text: string) => T
}

type Options = { readonly default?: string }

/** Marks a setting that may be absent; its value is then `undefined`. */
export function optional<T>(item: Setting<T>): Setting<T> & { readonly optional: true } {
  return { ...item, optional: true }
}

function setting<T>(
  variable: string,
  description: string,
  parse: (text: string) => T,
  options: Options,
  secret = false,
): Setting<T> {
  return {
    variable,
    description,
    parse,
    secret,
    ...(options.default === undefined ? {} : { defaultText: options.default }),
  }
}

export function textSetting(variable: string, description: string, options: Options = {}): Setting<string> {
  return setting(variable, description, text => text, options)
}

export function secretSetting(variable: string, description: string, options: Options = {}): Setting<SecretString> {
  return setting(variable, description, text => new SecretString(text), options, true)
}

export function portSetting(variable: string, description: string, options: Options = {}): Setting<number> {
  return integerSetting(variable, description, { ...options, minimum: 0, maximum: 65_535 })
}

export function integerSetting(
  variable: string,
  description: string,
  options: Options & { readonly minimum: number; readonly maximum: number },
): Setting<number> {
  const parse = (text: string): number => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < options.minimum || value > options.maximum)
      throw new Error(`must be a whole number from ${options.minimum} to ${options.maximum}`)
    return value
  }
  return setting(variable, description, parse, options)
}

export function urlSetting(variable: string, description: string, options: Options = {}): Setting<URL> {
  const parse = (text: string): URL => {
    if (!URL.canParse(text)) throw new Error('must be an absolute URL such as https://sekisho.example.com')
    const url = new URL(text)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('must be an http or https URL')
    return url
  }
  return setting(variable, description, parse, options)
}

export function choiceSetting<const T extends string>(
  variable: string,
  description: string,
  choices: readonly T[],
  options: Options = {},
): Setting<T> {
  const parse = (text: string): T => {
    const found = choices.find(choice => choice === text)
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
    return found
  }
  return setting(variable, description, parse, options)
}

type Values<S extends { readonly [key: string]: Setting<unknown> }> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? (S[K] extends { readonly optional: true } ? T | undefined : T) : never
}

function rawValue(environment: Environment, item: Setting<unknown>): string | undefined {
  const direct = environment[item.variable]
  if (direct !== undefined && direct !== '') return direct
  const file = environment[`${item.variable}_FILE`]
  if (file !== undefined && file !== '') return readFileSync(file, 'utf8').trimEnd()
  return item.defaultText
}

/** Reads all settings or throws one `invalid_configuration` that names every variable at fault. */
export function readSettings<S extends { readonly [key: string]: Setting<unknown> }>(
  settings: S,
  environment: Environment,
): Values<S> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(settings)) {
    try {
      const raw = rawValue(environment, item)
      if (raw !== undefined) values[key] = item.parse(raw)
      else if (!item.optional) problems.push(`${item.variable} is not set: ${item.description}`)
    } catch (error) {
      problems.push(`${item.variable} ${messageOf(error)}: ${item.description}`)
    }
  }
  if (problems.length > 0) throw unusable(problems)
  return Object.freeze(values) as Values<S>
}

/** Reads several tables and reports the problems of all of them at once: for a process that is more than one. */
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
