// `sekisho kubeconfig`: writes a context that gets its tokens from `sekisho token`. Other entries and comments of the file are
// kept.
import { resolve } from 'node:path'
import { Document, isMap, isSeq, parseDocument } from 'yaml'
import { AppError, isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { kubeconfigPath, ownCommand } from '../config.ts'
import { readTextFile, writePrivateFile } from '../files/private-file.ts'
import { didYouMean } from '../kubernetes/similar-names.ts'
import { json, type PlainFormat } from '../output.ts'
import type { CommandContext } from './context.ts'
import { askWhoAmI } from './whoami.ts'

type KubeconfigOptions = {
  readonly server?: string
  readonly certificateAuthority?: string
  readonly namespace?: string
  readonly context: string
  readonly kubeconfig?: string
  readonly output: PlainFormat
}

type Named = { readonly name: string } & Readonly<Record<string, unknown>>

type Cluster = { readonly server: string; readonly authority: string | undefined }

function isCluster(value: unknown): value is { readonly server: string; readonly certificateAuthority?: string | null } {
  return isJsonObject(value) && typeof value['server'] === 'string'
}

/** From the flags, else as the platform reports its API server. */
async function clusterOf(context: CommandContext, options: KubeconfigOptions): Promise<Cluster> {
  const { server, certificateAuthority } = options
  if (server !== undefined) return { server, authority: await authorityIn(certificateAuthority) }
  if (certificateAuthority !== undefined)
    throw new AppError('invalid_request', '--certificate-authority requires --server; without both, the platform reports them')
  const answer = await (await context.api()).json('/api/v1/cluster')
  if (!isCluster(answer))
    throw new AppError('not_found', 'the platform does not report its API server: use --server and --certificate-authority')
  return { server: answer.server, authority: answer.certificateAuthority ?? undefined }
}

async function authorityIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const text = await readTextFile(file)
  if (text?.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new AppError('invalid_request', `--certificate-authority: ${file} is not a PEM file with a certificate`)
}

/** The namespaces in which the person has a role. Undefined when the platform does not say. */
async function ownNamespaces(context: CommandContext): Promise<readonly string[] | undefined> {
  try {
    return (await askWhoAmI(context)).tenants.map(({ namespace }) => namespace)
  } catch (error) {
    if (!isAppError(error)) throw error
    return undefined
  }
}

/** The given namespace, else the only one of the person. `hint` says what a person may want to know about it. Pure. */
export function chooseNamespace(
  given: string | undefined,
  own: readonly string[] | undefined,
): { readonly namespace: string | undefined; readonly hint: string } {
  if (given !== undefined) {
    const known = own === undefined || own.includes(given)
    const there = own === undefined || own.length === 0 ? 'you have no role in any tenant' : `you have one in ${own.join(', ')}`
    return { namespace: given, hint: known ? '' : `; you have no role in ${given}: ${there}${didYouMean(given, own ?? [])}` }
  }
  const [only, ...others] = own ?? []
  if (only !== undefined && others.length === 0) return { namespace: only, hint: `, namespace ${only}` }
  const hint =
    only === undefined ? '' : `; it has no namespace, because you have several tenants: --namespace ${(own ?? []).join(' or ')}`
  return { namespace: undefined, hint }
}

function put(document: Document, list: 'clusters' | 'users' | 'contexts', entry: Named): void {
  const items = document.get(list)
  if (!isSeq(items)) {
    document.set(list, document.createNode([entry]))
    return
  }
  const found = items.items.findIndex(item => isMap(item) && item.get('name') === entry.name)
  if (found >= 0) items.set(found, document.createNode(entry))
  else items.add(document.createNode(entry))
}

/** Adds or replaces the cluster, user and context, and makes the context the current one. */
export async function kubeconfig(context: CommandContext, options: KubeconfigOptions): Promise<void> {
  const { settings } = context
  const path = options.kubeconfig ?? kubeconfigPath()
  // With both flags nothing has to be asked: the platform need not be within reach.
  const complete = options.server !== undefined && options.namespace !== undefined
  const { namespace, hint } = chooseNamespace(options.namespace, complete ? undefined : await ownNamespaces(context))
  const { server, authority } = await clusterOf(context, options)
  const text = await readTextFile(path)
  const document: Document =
    text === undefined || text.trim() === '' ? new Document({ apiVersion: 'v1', kind: 'Config' }) : parseDocument(text)
  if (document.errors.length > 0) throw new AppError('invalid_request', `${path} is not valid YAML and was not changed`)

  const name = options.context
  const caArguments = settings.caFile === undefined ? [] : ['--ca-file', settings.caFile]
  put(document, 'clusters', {
    name,
    cluster: {
      server,
      ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    },
  })
  put(document, 'users', {
    name,
    user: {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: ownCommand(),
        args: ['token', '--issuer', settings.issuer, ...caArguments],
        interactiveMode: 'Never',
        provideClusterInfo: false,
        installHint: `sekisho is the command line of the platform: the first page of ${settings.issuer} says where to get it.`,
      },
    },
  })
  put(document, 'contexts', {
    name,
    context: { cluster: name, user: name, ...defined({ namespace }) },
  })
  document.set('current-context', name)
  await writePrivateFile(path, document.toString())
  if (options.output === 'json')
    context.terminal.result(json({ context: name, kubeconfig: resolve(path), namespace: namespace ?? null }))
  else context.say(`context ${name} written to ${path}${hint}`)
}
