// Writes and reads the kubeconfig files of the local cluster: one cluster, one user, the client certificate inline.
// It also reads a given kubeconfig with a certificate or a token; it never runs plugins (exec, auth-provider).
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse, stringify } from 'yaml'
import { AppError } from '../../../src/lib/errors.ts'
import type { KeyPairFiles } from '../pki/openssl.ts'
import { replaceFile } from '../replace-file.ts'

export type ClientAccess = {
  readonly server: string
  readonly certificateAuthority: string | undefined
  readonly certificate?: string
  readonly key?: string
  readonly token?: string
}

export type UserAccess = {
  readonly server: string
  readonly authorityPem: string
  readonly user: string
  readonly pair: KeyPairFiles
}

/** Writes a kubeconfig of one user with the client certificate inline. */
export async function writeKubeconfig(path: string, { server, authorityPem, user, pair }: UserAccess): Promise<void> {
  const base64 = async (file: string): Promise<string> => (await readFile(file)).toString('base64')
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'sekisho', cluster: { server, 'certificate-authority-data': Buffer.from(authorityPem).toString('base64') } },
    ],
    users: [
      {
        name: user,
        user: { 'client-certificate-data': await base64(pair.certificate), 'client-key-data': await base64(pair.key) },
      },
    ],
    contexts: [{ name: 'sekisho', context: { cluster: 'sekisho', user } }],
    'current-context': 'sekisho',
  })
  await replaceFile(path, text)
}

type Fields = Readonly<Record<string, unknown>>

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function named(list: unknown, name: unknown, member: string): Fields {
  const items = Array.isArray(list) ? list.map(fields) : []
  return fields(items.find(item => item['name'] === name)?.[member])
}

/** What a client needs from a kubeconfig's current context. */
export async function readKubeconfig(path: string): Promise<ClientAccess> {
  const file = fields(parse(await readFile(path, 'utf8')))
  const context = named(file['contexts'], file['current-context'], 'context')
  const cluster = named(file['clusters'], context['cluster'], 'cluster')
  const user = named(file['users'], context['user'], 'user')
  const read = async (source: Fields, name: string): Promise<string | undefined> => {
    const data = source[`${name}-data`]
    if (typeof data === 'string') return Buffer.from(data, 'base64').toString()
    const reference = source[name]
    return typeof reference === 'string' ? readFile(resolve(dirname(path), reference), 'utf8') : undefined
  }
  const [certificateAuthority, certificate, key] = await Promise.all([
    read(cluster, 'certificate-authority'),
    read(user, 'client-certificate'),
    read(user, 'client-key'),
  ])
  const { server } = cluster
  const { token } = user
  if (typeof server !== 'string')
    throw new AppError('invalid_configuration', `KUBECONFIG ${path}: the current context has no server`)
  if (typeof token === 'string') return { server, certificateAuthority, token }
  if (certificate === undefined || key === undefined) {
    throw new AppError(
      'invalid_configuration',
      `KUBECONFIG ${path}: the user must have a client certificate or a token; credential plugins are not supported`,
    )
  }
  return { server, certificateAuthority, certificate, key }
}
