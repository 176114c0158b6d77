// Reads a cluster of the user's: what there is, what our user may do, and whether the registry takes our images. It writes
// nothing there.

import { messageOf } from '../../../src/lib/errors.ts'
import { registryTokens } from '../../cluster/node/services/registry.ts'
import { authorizeAt, basicOf, challengeOf, isAccepted, parseGivenRegistry } from '../../images/registry/given-registry.ts'
import { createPushTokens } from '../../images/registry/push-token.ts'
import type { Kubectl } from '../kubectl.ts'
import { modeOf, platformNamespace as namespace } from '../mode.ts'
import { installerAnnotation } from '../overlay/given.ts'
import type { GivenAuthorities } from './certificates.ts'
import {
  type ClassFact,
  type Facts,
  type MutationVersion,
  mutationVersions,
  type NodeFact,
  type RegistryFact,
} from './decision/facts.ts'
import { podPidsFact } from './pod-pids.ts'
import { refusedRights } from './rights.ts'
import type { GivenClusterSettings } from './settings.ts'

type Item = {
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}
type NodeItem = Item & {
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status: {
    readonly nodeInfo: { readonly architecture: string }
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}
type Endpoints = {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[]
  readonly ports?: readonly { readonly port: number }[]
}

type Reader = {
  /** An answer of the API server; what it does not let us read is noted, and nothing is found. */
  readonly object: <T extends object>(...args: readonly string[]) => Promise<T | undefined>
  readonly list: <T extends Item>(...args: readonly string[]) => Promise<readonly T[]>
  readonly unreadable: readonly string[]
}

export async function gather(kubectl: Kubectl, settings: GivenClusterSettings, authorities: GivenAuthorities): Promise<Facts> {
  const reader = createReader(kubectl)
  const crds = (await reader.list('customresourcedefinitions')).map(({ metadata }) => metadata.name)
  const deployments = await reader.list('deployments', '-n', namespace)
  const apps = crds.includes('clustergithubapps.github.sekisho.dev')
    ? await reader.list('clustergithubapps.github.sekisho.dev')
    : undefined
  const secret =
    settings.pullSecret === undefined || settings.pullSecret === 'none'
      ? undefined
      : await reader.object<Item>('secret', settings.pullSecret, '-n', namespace)
  const nodes = (await reader.list<NodeItem>('nodes')).map(nodeFact)
  const facts = {
    version: await serverVersion(kubectl),
    mutations: await mutationVersion(kubectl),
    nodes,
    podPids: await podPidsFact(
      kubectl,
      nodes.flatMap(({ name, ready }) => (ready ? [name] : [])),
    ),
    ingressClasses: classFacts(await reader.list('ingressclasses'), 'ingressclass.kubernetes.io/is-default-class'),
    storageClasses: classFacts(await reader.list('storageclasses'), 'storageclass.kubernetes.io/is-default-class'),
    apiServer: { url: await serverUrl(kubectl), ...(await serverAddresses(reader)) },
    kpack: crds.includes('builds.kpack.io'),
    clusterBuilder: crds.includes('clusterbuilders.kpack.io') ? await builderFact(reader, settings.clusterBuilder) : 'absent',
    namespace: namespaceFact(await reader.object<Item>('namespace', namespace)),
    form: modeOf(deployments.map(({ metadata }) => metadata.name)),
    installedBy: await installerFact(reader, deployments.length > 0, authorities.fingerprint),
    githubApps: apps?.map(({ metadata }) => metadata.name),
    secrets: secret === undefined ? [] : [secret.metadata.name],
    registry: await registryFact(settings.registry, settings, authorities),
    platformRegistry:
      settings.platformRegistry === undefined
        ? undefined
        : await registryFact(settings.platformRegistry, { ...settings, registryAuthentication: undefined }, authorities),
    refused: await refusedRights(kubectl),
    registryAuthorityFile: authorities.registry.certificate,
  } as const
  return { ...facts, unreadable: reader.unreadable }
}

function createReader(kubectl: Kubectl): Reader {
  const unreadable: string[] = []
  const object: Reader['object'] = async <T extends object>(...args: readonly string[]) => {
    try {
      return (await kubectl.read(args)) as T | undefined
    } catch (error) {
      unreadable.push(messageOf(error))
      return undefined
    }
  }
  return {
    object,
    list: async <T extends Item>(...args: readonly string[]) =>
      (await object<{ readonly items: readonly T[] }>(...args))?.items ?? [],
    unreadable,
  }
}

async function serverVersion(kubectl: Kubectl): Promise<string> {
  const { serverVersion: version } = JSON.parse(await kubectl.run(['version', '-o', 'json'])) as {
    readonly serverVersion: { readonly gitVersion: string }
  }
  return version.gitVersion
}

async function mutationVersion(kubectl: Kubectl): Promise<MutationVersion | undefined> {
  const served = (await kubectl.run(['api-resources', '--api-group=admissionregistration.k8s.io', '--no-headers'])).split('\n')
  const versions = served.filter(line => line.startsWith('mutatingadmissionpolicies ')).map(line => line.split(/[\s/]+/))
  return mutationVersions.find(version => versions.some(fields => fields.includes(version)))
}

async function serverUrl(kubectl: Kubectl): Promise<string> {
  return (await kubectl.run(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}'])).trim()
}

async function serverAddresses(reader: Reader): Promise<{ readonly addresses: readonly string[]; readonly port: number }> {
  const items = await reader.list<Item & Endpoints>(
    'endpointslices',
    '-n',
    'default',
    '-l',
    'kubernetes.io/service-name=kubernetes',
  )
  const addresses = items.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(endpoint => endpoint.addresses))
  return { addresses, port: items[0]?.ports?.[0]?.port ?? 443 }
}

function nodeFact({ metadata, spec, status }: NodeItem): NodeFact {
  const isReady = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  return { name: metadata.name, ready: isReady && spec?.unschedulable !== true, architecture: status.nodeInfo.architecture }
}

function classFacts(items: readonly Item[], annotation: string): readonly ClassFact[] {
  return items.map(({ metadata }) => ({ name: metadata.name, isDefault: metadata.annotations?.[annotation] === 'true' }))
}

async function builderFact(reader: Reader, name: string): Promise<Facts['clusterBuilder']> {
  const found = await reader.object<Item>('clusterbuilders.kpack.io', name)
  if (found === undefined) return 'absent'
  return found.metadata.labels?.['app.kubernetes.io/managed-by'] === 'sekisho-dev' ? 'ours' : 'foreign'
}

function namespaceFact(found: Item | undefined): Facts['namespace'] {
  if (found === undefined) return 'absent'
  return found.metadata.labels?.['app.kubernetes.io/part-of'] === 'sekisho' ? 'labelled' : 'foreign'
}

/** An interrupted first `up` leaves the ConfigMap behind, with our mark, or no Deployment. */
async function installerFact(reader: Reader, runs: boolean, fingerprint: string): Promise<Facts['installedBy']> {
  const found = await reader.object<Item>('configmap', 'sekisho-settings', '-n', namespace)
  if (found === undefined && !runs) return 'nobody'
  return found?.metadata.annotations?.[installerAnnotation] === fingerprint ? 'us' : 'others'
}

async function registryFact(
  reference: string | undefined,
  settings: Pick<GivenClusterSettings, 'registryAuthentication' | 'registryCredentials'>,
  authorities: GivenAuthorities,
): Promise<RegistryFact> {
  if (reference === undefined) return { state: 'unknown' }
  try {
    const registry = parseGivenRegistry(reference)
    const challenge = await challengeOf(registry)
    if (challenge.kind === 'none') return { state: 'open' }
    const tokens =
      settings.registryAuthentication === 'token-server' ? createPushTokens(authorities.registry, registryTokens) : undefined
    const basic = basicOf(settings.registryCredentials?.reveal(), registry.host)
    const closed = { state: 'closed', ...(challenge.kind === 'bearer' ? { realm: challenge.realm } : {}) } as const
    return await isAccepted(registry, authorizeAt(registry, { basic, tokens })).then(
      accepted => ({ ...closed, accepted }),
      (error: unknown) => ({ ...closed, accepted: false, why: messageOf(error) }),
    )
  } catch (error) {
    return { state: 'unreachable', why: messageOf(error) }
  }
}
