// Reads what `why` judges, with the rights of the person. What a person may not read is left out: the step then says that it
// cannot be seen.
import { promises as dns } from 'node:dns'
import { namedDomains } from '../../../api/apps/application/domains.ts'
import type { Application } from '../../../api/apps/application.ts'
import { applicationsOf, runsIn } from '../../../api/apps/remote-sync/applications.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { CoreEvent, Service } from '../../../api/builtin/core.ts'
import type { EndpointSlice, Ingress } from '../../../api/builtin/networking.ts'
import { namespacedKind } from '../../../api/builtin/resource-type.ts'
import type { Deployment } from '../../../api/builtin/workloads.ts'
import type { RepositoryGrant } from '../../../api/github/repository-grant.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { Clock } from '../../../lib/clock.ts'
import { defined } from '../../../lib/json/defined.ts'
import { type Cluster, found, readable } from '../../kubernetes/cluster.ts'
import {
  applications,
  domainClaims,
  installations,
  remoteSyncs,
  repositoryGrants,
  serviceBindings,
} from '../../kubernetes/kinds.ts'
import type { NamedObject } from '../../kubernetes/named-object.ts'
import { podSelector, podsOf } from '../application/pods.ts'
import { verdict } from '../application/status.ts'
import { serviceKinds } from '../services/service-kinds.ts'
import { askUrl } from './ask-url.ts'
import type { Facts } from './facts.ts'
import { type ServiceFact, servicesOfApplication, servicesOfBinding, servicesOfService } from './service-facts.ts'

const deployments = namespacedKind<Deployment>('apps/v1', 'Deployment', 'deployments')
const services = namespacedKind<Service>('v1', 'Service', 'services')
const endpointSlices = namespacedKind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices')
const ingresses = namespacedKind<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses')
const events = namespacedKind<CoreEvent>('v1', 'Event', 'events')

type Chain = Pick<Facts, 'application' | 'remoteSync' | 'grant'>

/** Undefined for what the person may not read, too. */
function get<T extends KubeObject>({ client, namespace }: Cluster, type: ResourceType<T>, name: string): Promise<T | undefined> {
  return readable(client.get(type, { name, namespace }), undefined)
}

async function syncOf({ client, namespace }: Cluster, application: string): Promise<RemoteSync | undefined> {
  const all = await readable(client.list(remoteSyncs, { namespace }), [])
  return all.find(({ spec }) => runsIn(spec, application))
}

async function grantOf(cluster: Cluster, sync: RemoteSync | undefined): Promise<RepositoryGrant | undefined> {
  const name = sync?.status?.grant
  return name === undefined ? undefined : get(cluster, repositoryGrants, name)
}

async function chainOfApplication(cluster: Cluster, application: Application): Promise<Chain> {
  const remoteSync = await syncOf(cluster, application.metadata.name)
  return { application, remoteSync, grant: await grantOf(cluster, remoteSync) }
}

/** Of several Applications the first that does not exist or is not ready: that one is the cause. */
async function chainOfSync(cluster: Cluster, remoteSync: RemoteSync): Promise<Chain> {
  const [first, ...others] = applicationsOf(remoteSync.spec)
  let application = await get(cluster, applications, first)
  for (const name of others) {
    if (application === undefined || !verdict(application).ready) break
    const other = await get(cluster, applications, name)
    if (other === undefined || !verdict(other).ready) application = other
  }
  return { application, remoteSync, grant: await grantOf(cluster, remoteSync) }
}

async function chainOfGrant(cluster: Cluster, grant: RepositoryGrant): Promise<Chain> {
  const owner = grant.metadata.ownerReferences?.find(({ kind }) => kind === remoteSyncs.kind)
  const remoteSync = owner === undefined ? undefined : await get(cluster, remoteSyncs, owner.name)
  if (remoteSync !== undefined) return { ...(await chainOfSync(cluster, remoteSync)), grant }
  const named = grant.spec.subjects.find(({ kind }) => kind === applications.kind)
  const application = named && (await get(cluster, applications, named.name))
  return { ...defined({ application }), grant }
}

async function chainOfDomain({ client, namespace }: Cluster, host: string): Promise<Chain> {
  const all = await client.list(applications, { namespace })
  const named = all.find(({ spec }) => namedDomains(spec).includes(host))
  const served = all.find(({ status }) => status?.url !== undefined && new URL(status.url).hostname === host)
  return { application: named ?? served }
}

async function chainOf(cluster: Cluster, { type, name }: NamedObject): Promise<Chain> {
  switch (type.kind) {
    case remoteSyncs.kind:
      return chainOfSync(cluster, await found(cluster, remoteSyncs, name))
    case repositoryGrants.kind:
      return chainOfGrant(cluster, await found(cluster, repositoryGrants, name))
    case domainClaims.kind:
      return chainOfDomain(cluster, name)
    default:
      return chainOfApplication(cluster, await found(cluster, applications, name))
  }
}

/** Those that are delivered to the Application as a Secret. */
async function secretGrantsOf({ client, namespace }: Cluster, application: string): Promise<readonly RepositoryGrant[]> {
  const all = await readable(client.list(repositoryGrants, { namespace }), [])
  const isFor = ({ kind, name }: RepositoryGrant['spec']['subjects'][number]): boolean =>
    kind === applications.kind && name === application
  return all.filter(({ spec }) => spec.delivery === 'Secret' && spec.subjects.some(isFor))
}

async function runningFacts(cluster: Cluster, application: Application | undefined) {
  if (application === undefined)
    return { deployments: [], pods: [], endpointSlices: [], warnings: [], secretGrants: [], services: [] }
  const { client, namespace } = cluster
  const { name } = application.metadata
  const url = application.status?.url
  const [deployed, pods, service, slices, ingress, all, secretGrants, answer] = await Promise.all([
    readable(client.list(deployments, { namespace, labelSelector: podSelector(name) }), []),
    readable(podsOf(cluster, name), []),
    get(cluster, services, name),
    readable(client.list(endpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${name}` }), []),
    get(cluster, ingresses, name),
    readable(client.list(events, { namespace, fieldSelector: 'type=Warning' }), []),
    secretGrantsOf(cluster, name),
    url === undefined ? undefined : askUrl(url),
  ])
  const mine = all.filter(({ involvedObject }) => involvedObject.name?.startsWith(`${name}-`) === true)
  const time = (event: CoreEvent): string => event.lastTimestamp ?? event.firstTimestamp ?? ''
  const warnings = [...mine].sort((a, b) => time(b).localeCompare(time(a)))
  const used = await servicesOfApplication(cluster, application, pods)
  return {
    deployments: deployed,
    pods,
    service,
    endpointSlices: slices,
    ingress,
    warnings,
    secretGrants,
    services: used,
    answer,
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  if (/(^|\.)localhost$/.test(host)) return ['127.0.0.1']
  try {
    return (await dns.lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    return []
  }
}

/** Undefined when the Application does not redirect this host, or has no URL yet. */
async function redirectOf(application: Application | undefined, host: string): Promise<Facts['redirect']> {
  const to = application?.spec.redirects?.find(({ from }) => from === host)?.to
  if (to === undefined || application?.status?.url === undefined) return undefined
  const url = new URL(application.status.url)
  url.hostname = host
  return { to, url: url.href, answer: await askUrl(url.href) }
}

/** Of a service or a credential that was named; undefined for other objects. */
async function namedServices(cluster: Cluster, { type, name }: NamedObject): Promise<readonly ServiceFact[] | undefined> {
  if (type.kind === serviceBindings.kind) return servicesOfBinding(cluster, await found(cluster, serviceBindings, name))
  const kind = serviceKinds.find(one => one.type.kind === type.kind)
  return kind && servicesOfService(cluster, { kind, service: await found(cluster, kind.type, name) })
}

/** Rejects with `not_found` when the object that was named does not exist. */
export async function gatherFacts(cluster: Cluster, clock: Clock, object: NamedObject): Promise<Facts> {
  const named = await namedServices(cluster, object)
  const chain: Chain = named === undefined ? await chainOf(cluster, object) : {}
  const wanted = chain.remoteSync?.spec.installation ?? chain.grant?.spec.installation
  const isDomain = object.type.kind === domainClaims.kind
  const [running, installation, addresses, redirect] = await Promise.all([
    runningFacts(cluster, chain.application),
    wanted === undefined ? undefined : get(cluster, installations, wanted),
    isDomain ? addressesOf(object.name) : undefined,
    isDomain ? redirectOf(chain.application, object.name) : undefined,
  ])
  return {
    ...chain,
    ...running,
    services: named ?? running.services,
    installation,
    addresses,
    redirect,
    now: clock.now(),
    namespace: cluster.namespace,
    subject: { kind: object.type.kind, name: object.name },
  }
}
