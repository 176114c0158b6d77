// A repository as people bring it, and what becomes of it.

export type Repository = {
  /** What is special about it. */
  readonly what: string
  /** Of the Application and the RemoteSync, and of the folder in the branch. */
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Fields of spec of the Application that differ from one process `web` with a port. */
  readonly application?: Readonly<Record<string, unknown>>
  /** Fields of spec of the RemoteSync besides `source` and `subPath`. */
  readonly remoteSync?: Readonly<Record<string, unknown>>
  /** Below the folder of the repository. */
  readonly subPath?: string
  readonly becomes: Served | Refused
  /** From the creation of the build until this is seen: twice the time of a quiet machine. */
  readonly maxSeconds: number
}

type Served = { readonly kind: 'served'; readonly path?: string; readonly text: string }
type Refused = {
  readonly kind: 'refused'
  readonly by: 'remotesync' | 'application'
  readonly reason: string
  readonly message: RegExp
}

export function served(text: string, path?: string): Served {
  return { kind: 'served', text, ...(path === undefined ? {} : { path }) }
}

export function buildFails(message: RegExp): Refused {
  return { kind: 'refused', by: 'remotesync', reason: 'BuildFailed', message }
}

export function doesNotRun(reason: string, message: RegExp): Refused {
  return { kind: 'refused', by: 'application', reason, message }
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Answers every request with the text of an expression. */
export function nodeServer(expression: string, start = 'node:http'): string {
  return `const { createServer } = require('${start}')\ncreateServer((request, response) => response.end(${expression})).listen(Number(process.env.PORT))\n`
}
