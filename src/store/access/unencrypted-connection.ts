// Says at the start that a database URL leads to another host without TLS: the driver connects unencrypted when the URL has no
// `sslmode`, and nobody would notice. It refuses nothing, because a proxy or the network may encrypt. It never puts a part of
// the URL into its text.
import { isIPv4 } from 'node:net'
import type { Log } from '../../lib/log.ts'
import type { SecretString } from '../../lib/secret-string.ts'

/** The URL of one connection, and the environment variable that holds it. */
export type NamedUrl = { readonly variable: string; readonly url: SecretString }

/** One error line for each URL that `unencryptedProblem` names. */
export function logUnencrypted(connections: readonly NamedUrl[], log: Pick<Log, 'error'>): void {
  for (const connection of connections) {
    const problem = unencryptedProblem(connection)
    if (problem !== undefined) log.error({ variable: connection.variable }, problem)
  }
}

/**
 * The problem with its cure; undefined for a URL that says what it wants (`sslmode`, or `ssl` of the driver pg), for this host,
 * for a socket, and for what is no URL at all, which `connectServer` refuses.
 * https://www.postgresql.org/docs/current/libpq-ssl.html
 */
export function unencryptedProblem({ variable, url }: NamedUrl): string | undefined {
  const text = url.reveal()
  if (!URL.canParse(text)) return undefined
  const { hostname, searchParams } = new URL(text)
  if (searchParams.has('sslmode') || searchParams.has('ssl')) return undefined
  if (isThisHost(searchParams.get('host') ?? hostname.replaceAll(/%2f/gi, '/'))) return undefined
  return `${variable} has no sslmode, and its host is another one: passwords and rows cross the network unencrypted. Add ?sslmode=verify-full, with &sslrootcert=<file> for an authority of your own; sslmode=disable says that it is intended`
}

/** No host and a path are a socket of this host. */
function isThisHost(host: string): boolean {
  return (
    host === '' ||
    host.startsWith('/') ||
    host === 'localhost' ||
    host === '[::1]' ||
    host === '::1' ||
    (isIPv4(host) && host.startsWith('127.'))
  )
}
