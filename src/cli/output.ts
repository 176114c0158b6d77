// The output of the CLI: results on standard output (text, table or JSON), everything else on standard error, and exit codes.

import { once } from 'node:events'
import { AppError, messageOf } from '../lib/errors.ts'
import { controls, printable } from '../lib/text/printable.ts'

/**
 * 0 is success; 1 failure, 2 invalid usage, 3 not signed in, 4 the audit log does not verify, 5 it verifies, but entries are
 * missing; 6 the build failed.
 */
export const exitCodes = { failed: 1, usage: 2, signIn: 3, notVerified: 4, truncated: 5, buildFailed: 6 } as const

/** The reason of the AppError of a build that was followed and did not succeed. */
export const buildFailedReason = 'BuildFailed'

/** A command of the user ended with this code, which becomes the one of the process; everything was said before. */
export class CommandEnded extends Error {
  override readonly name = 'CommandEnded'
  readonly code: number

  constructor(code: number) {
    super(`the command ended with ${code}`)
    this.code = code
  }
}

export type PlainFormat = 'table' | 'json'
export type OutputFormat = PlainFormat | 'wide'
export type ClusterFormat = PlainFormat | 'yaml'

export type Terminal = {
  /** Prints a line of the result. */
  readonly result: (text: string) => void
  /** Prints a message for people. */
  readonly say: (text: string) => void
}

/** Standard output and error. Control characters are replaced, because names, reasons and error texts come from other people. */
export const processTerminal: Terminal = {
  result: text => void process.stdout.write(`${printableLines(text)}\n`),
  say: text => void process.stderr.write(`${printableLines(text)}\n`),
}

/** Resolves when what was printed is on its way: whoever prints much waits for it, or all of it is in memory. */
export async function drained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

/** A table whose columns are as wide as their widest cell. Control characters, newlines among them, are replaced. */
export function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map(row => row.map(printable))
  const widths = headers.map((header, column) => Math.max(header.length, ...clean.map(row => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(headers), ...clean.map(line)].join('\n')
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** JSON for programs: control characters are escaped, so that no information is lost. */
export function json(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(escapedControls).join('\n')
}

/** As `json`, on one line. */
export function jsonLine(value: unknown): string {
  return escapedControls(JSON.stringify(value))
}

/** JSON has the other control characters of ASCII as escapes already. */
function escapedControls(line: string): string {
  if (Buffer.byteLength(line) === line.length && !line.includes('\u007f')) return line
  return line.replace(controls, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Prints a result: `value` for programs, `text` for people. `value` is part of the contract of the command. */
export async function present(
  terminal: Terminal,
  output: ClusterFormat,
  { value, text }: { readonly value: unknown; readonly text: () => string },
): Promise<void> {
  if (output === 'json') return terminal.result(json(value))
  if (output === 'table') return terminal.result(text())
  const { stringify } = await import('yaml')
  // Through JSON, so that undefined fields are left out.
  terminal.result(stringify(JSON.parse(JSON.stringify(value))).trimEnd())
}

/** How long ago, in the largest unit as kubectl shows ages: `5s`, `3m`, `2h`, `4d`. */
export function age(since: string | undefined, now: Date): string {
  if (since === undefined) return '-'
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

/** The exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandEnded) return error.code
  if (!(error instanceof AppError)) return exitCodes.failed
  if (error.reason === buildFailedReason) return exitCodes.buildFailed
  if (error.code === 'unauthenticated') return exitCodes.signIn
  if (error.code === 'integrity_violation') return exitCodes.notVerified
  if (error.code === 'log_truncated') return exitCodes.truncated
  return error.code === 'invalid_request' ? exitCodes.usage : exitCodes.failed
}

/**
 * One line for people, with a stack only for an unexpected error. Redaction is loaded on demand, because most runs have no
 * error.
 */
export async function errorText(error: unknown): Promise<string> {
  const { redactTokens } = await import('../lib/log.ts')
  if (error instanceof AppError) return `sekisho: ${redactTokens(error.message)}`
  return `sekisho: ${redactTokens(error instanceof Error ? (error.stack ?? error.message) : messageOf(error))}`
}
