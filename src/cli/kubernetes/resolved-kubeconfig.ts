// Which cluster, user and namespace a command means, resolved as kubectl does it: --kubeconfig, else the files of KUBECONFIG
// merged, else ~/.kube/config; --context, else the current context; --namespace, else the one of the context, else `default`.
// Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
import { dirname, isAbsolute, join } from 'node:path'
import { parseDocument } from 'yaml'
import { AppError } from '../../lib/errors.ts'
import { asObject, type JsonObject, objectAt, objectsAt, textAt } from '../../lib/json/json-value.ts'
import { kubeconfigPaths } from '../config.ts'
import { readTextFile } from '../files/private-file.ts'
import { didYouMean } from './similar-names.ts'

export type KubeconfigFlags = {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly namespace?: string | undefined
}

/** One context with its cluster and its user; every path in them is absolute. */
export type ResolvedKubeconfig = {
  /** The files, for messages. */
  readonly where: string
  readonly context: string
  readonly namespace: string
  readonly cluster: JsonObject
  readonly user: JsonObject
}

type Source = { readonly path: string; readonly content: JsonObject }

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const
const cure = 'run sekisho kubeconfig, which writes one, or name another file with --kubeconfig'

/** Rejects with `invalid_configuration`, which names the file, the context or the entry that is missing, and the cure. */
export async function resolveKubeconfig(
  flags: KubeconfigFlags,
  defaultPaths: readonly string[] = kubeconfigPaths(),
): Promise<ResolvedKubeconfig> {
  const paths = flags.kubeconfig === undefined ? defaultPaths : [flags.kubeconfig]
  const sources = (await Promise.all(paths.map(readSource))).filter(source => source !== undefined)
  const where = paths.join(' and ')
  if (sources.length === 0) throw new AppError('invalid_configuration', `there is no kubeconfig ${where}: ${cure}`)
  const context = flags.context ?? firstText(sources, 'current-context')
  if (context === undefined)
    throw new AppError('invalid_configuration', `${where} has no current context: ${cure}, or name one with --context`)
  const entry = entryNamed(sources, 'contexts', 'context', context, where)
  const cluster = entryNamed(sources, 'clusters', 'cluster', textAt(entry, 'cluster') ?? '', where)
  const user = entryNamed(sources, 'users', 'user', textAt(entry, 'user') ?? '', where)
  return { where, context, cluster, user, namespace: flags.namespace ?? (textAt(entry, 'namespace') || 'default') }
}

/** The text of a kubeconfig that has this context only. */
export function kubeconfigText({ cluster, user, namespace }: ResolvedKubeconfig): string {
  const name = 'current'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  })
}

/** A file of the list that does not exist is left out, as kubectl does. */
async function readSource(path: string): Promise<Source | undefined> {
  const text = await readTextFile(path)
  if (text === undefined || text.trim() === '') return undefined
  const document = parseDocument(text)
  const content = document.errors.length > 0 ? undefined : asObject(document.toJS())
  if (content === undefined) throw new AppError('invalid_configuration', `the kubeconfig ${path} is not valid YAML`)
  return { path, content }
}

function firstText(sources: readonly Source[], field: string): string | undefined {
  return sources.map(({ content }) => textAt(content, field)).find(text => text !== undefined && text !== '')
}

/** Of entries with the same name the first counts. */
function entryNamed(
  sources: readonly Source[],
  list: 'contexts' | 'clusters' | 'users',
  field: 'context' | 'cluster' | 'user',
  ...[name, where]: readonly [string, string]
): JsonObject {
  const names: string[] = []
  for (const { path, content } of sources)
    for (const item of objectsAt(content, list)) {
      const found = textAt(item, 'name')
      if (found === name) return withAbsolutePaths(objectAt(item, field) ?? {}, dirname(path))
      if (found !== undefined) names.push(found)
    }
  throw new AppError(
    'invalid_configuration',
    `${where} has no ${field} ${JSON.stringify(name)}; ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}${didYouMean(name, names)}`,
  )
}

/** Paths in a kubeconfig are relative to its folder. A command with a slash is a path; one without is looked up on PATH. */
function withAbsolutePaths(entry: JsonObject, folder: string): JsonObject {
  const absolute = (path: string): string => (isAbsolute(path) ? path : join(folder, path))
  const found = pathFields.flatMap(field => {
    const path = textAt(entry, field)
    return path === undefined || path === '' ? [] : [[field, absolute(path)] as const]
  })
  const exec = objectAt(entry, 'exec')
  const command = textAt(exec, 'command')
  return {
    ...entry,
    ...Object.fromEntries(found),
    ...(exec !== undefined && command?.includes('/') ? { exec: { ...exec, command: absolute(command) } } : {}),
  }
}
