// Structured logs on standard output: a constant message and fields. Levels: info, debug, error.
// Redaction is only the last safeguard: secrets must be passed as SecretString, which never prints its value.
import { pino } from 'pino'

export type LogFields = { readonly [key: string]: unknown }

export type Log = {
  readonly debug: (fields: LogFields, message: string) => void
  readonly info: (fields: LogFields, message: string) => void
  readonly error: (fields: LogFields, message: string) => void
  readonly child: (fields: LogFields) => Log
}

/**
 * Without a boundary in front: an escape ends in a letter or digit, as in `\nghs_…` of JSON and `%3Aghs_…` of an address.
 * Linear in the text, which strangers write: a JWT is looked for once in each word that ends as one does.
 */
const tokenShapes =
  /gh[a-z]_[A-Za-z0-9._-]{20,}|skr_[A-Za-z0-9_-]{40,}|github_pat_[A-Za-z0-9_]{20,}|(?<![\w-])(?=[\w-]*\.[\w.-]{20})((?:(?!gh[a-z]_)[\w-])*?)eyJ[\w-]{10,}\.[\w.-]{20,}/g

/** Replaces everything that has the shape of a token. Apply it also to external texts before they reach a status or an Event. */
export function redactTokens(text: string): string {
  return text.replace(tokenShapes, '$1[redacted]')
}

/** The last `most` characters, redacted; a word through which the cut goes is left out, because half a token is not found. */
export function redactedTail(text: string, most: number): string {
  return redactTokens(text.length <= most ? text : text.slice(-most).replace(/^[\w.-]+/, ''))
}

/** JSON lines on standard output, with tokens redacted. */
export function createLog(options: { readonly level: 'debug' | 'info' | 'error' | 'silent'; readonly name: string }): Log {
  return pino(
    { level: options.level, name: options.name, serializers: { error: pino.stdSerializers.err }, base: { name: options.name } },
    { write: (line: string) => process.stdout.write(redactTokens(line)) },
  )
}
