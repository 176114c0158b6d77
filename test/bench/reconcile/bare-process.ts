// The writes of a cold start without a controller: the same bodies for each Application, sent by ten workers over bare
// keep-alive connections that check only the status code. No cache, no watch, no queue: the result is the limit of the API
// server.
import { Pool } from 'undici'
import type { Application } from '../../../src/api/apps/application.ts'
import { application } from '../../../src/api/apps/application.ts'
import { applicationChart } from '../../../src/api/apps/application-chart.ts'
import { release } from '../../../src/api/apps/release.ts'
import { events } from '../../../src/api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts'
import { decide } from '../../../src/controllers/application/decide.ts'
import { urlOf } from '../../../src/controllers/application/domains/hosts.ts'
import { fieldManager } from '../../../src/controllers/application/field-manager.ts'
import { entriesOf } from '../../../src/controllers/application/objects/inventory.ts'
import { planRelease } from '../../../src/controllers/application/releases/choose-release.ts'
import { desiredRelease } from '../../../src/controllers/application/releases/desired-release.ts'
import { reportOf } from '../../../src/controllers/application/releases/report.ts'
import { desiredManifests } from '../../../src/controllers/application/rendering/desired.ts'
import { renderableKind } from '../../../src/controllers/application/rendering/renderable-kinds.ts'
import { evaluateRollout } from '../../../src/controllers/application/rollout/rollout.ts'
import { nextStatus } from '../../../src/controllers/application/status.ts'
import { collectionPath, objectPath } from '../../../src/kube/client/resource-path.ts'
import { loadKubeConnection } from '../../../src/kube/kubeconfig/kubeconfig.ts'
import { systemClock as clock } from '../../../src/lib/clock.ts'
import { messageOf } from '../../../src/lib/errors.ts'
import { findChartSource } from '../../../src/services/charts/chart-source.ts'
import { chart } from '../../../src/services/charts/web.ts'
import { dispatchCommands, liveHeapBytes } from '../harness/command-server.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import { ingress } from './applications.ts'

const workers = 10
const { apiVersion, kind } = applicationChart
const webChart = { apiVersion, kind, metadata: { name: 'web' }, spec: { builtIn: 'web', timeoutSeconds: 10 } } as const
const chartFact = { timeoutSeconds: 10, lookup: findChartSource(webChart, () => undefined) }

const noReleases = { headers: [], jobs: [], podsOfJobs: new Map(), syncs: [], secretVersions: {} }

const connection = await loadKubeConnection({ environment: process.env, clock })
const { ca, cert, key } = connection.tls
const pool = new Pool(connection.server, { allowH2: false, connections: workers, connect: { ca, cert, key: key?.reveal() } })
let done = 0

const contentTypes = { GET: 'application/json', POST: 'application/json', PATCH: 'application/apply-patch+yaml' } as const

async function send(method: keyof typeof contentTypes, path: string, body?: object): Promise<string> {
  const headers = { accept: 'application/json', 'content-type': contentTypes[method] }
  const answer = await pool.request({ method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`)
  if (method === 'GET') return answer.body.text()
  await answer.body.dump()
  return ''
}

function apply(type: ResourceType, object: Pick<KubeObject, 'metadata'>, subresource?: 'status'): Promise<string> {
  const { name, namespace = '' } = object.metadata
  return send(
    'PATCH',
    `${objectPath(type, { name, namespace }, subresource)}?fieldManager=${fieldManager}&force=true&fieldValidation=Ignore`,
    object,
  )
}

function create(type: ResourceType, object: { readonly metadata: Partial<KubeObject['metadata']> }): Promise<string> {
  const path = collectionPath(type, object.metadata.namespace)
  return send('POST', `${path}?fieldManager=${fieldManager}&fieldValidation=Ignore`, object)
}

/** The Event that the controller records for an Application whose objects it has just created. */
function eventOf({ metadata }: Application): Pick<KubeObject, 'metadata'> & Readonly<Record<string, unknown>> {
  const { name, namespace = '', uid = '' } = metadata
  const timestamp = `${clock.now().toISOString().slice(0, 19)}Z`
  const involvedObject = { apiVersion: application.apiVersion, kind: application.kind, name, namespace, uid }
  const content = { type: 'Normal', reason: 'RollingOut', message: '0 of 1 replicas run this version' }
  const times = { count: 1, firstTimestamp: timestamp, lastTimestamp: timestamp }
  const source = { source: { component: 'bare' }, reportingComponent: 'bare' }
  return { apiVersion: 'v1', kind: 'Event', metadata: { name, namespace }, involvedObject, ...source, ...content, ...times }
}

async function writeAll(found: Application): Promise<void> {
  const registry = { place: { registry: 'registry.test', aliases: [] }, pullSecret: undefined }
  const unread = { contents: { kind: 'unread' } as const, certificateIssuers: [], redirectAnnotations: [] }
  const nobody = { tenant: undefined, claims: new Map(), reservedHosts: [], foreignHosts: new Set<string>() }
  const nothing = {
    ...nobody,
    registry,
    usersOfHost: new Map(),
    secrets: new Map(),
    ...{ services: [], bindings: [], reach: [] },
    children: new Map(),
    volumeClaims: new Set<string>(),
    present: [],
    pods: [],
    releases: noReleases,
    ...unread,
  }
  const decision = decide({ application: found, ingress, chart: chartFact, ...nothing })
  if (decision.kind === 'refused') throw new Error(decision.message)
  const desired = desiredManifests(found, chart(decision.input), decision.input)
  if (desired.kind === 'refused') throw new Error(desired.message)
  const plan = planRelease(found, undefined, { secretVersions: {} })
  const by = { kind: 'User', name: 'github|github.com|1' } as const
  if (plan) await create(release, desiredRelease(found, plan, { secretVersions: {}, by }))
  for (const manifest of desired.manifests) {
    const type = renderableKind(manifest)
    if (type) await apply(type, manifest)
  }
  const [host = ''] = decision.input.hosts
  const progress = { kind: 'applied', url: urlOf(host, ingress), changed: true } as const
  const rollout = evaluateRollout({ deployments: [undefined], pods: [] }, new Date())
  const now = clock.now()
  const observed = {
    newest: 1,
    madeAt: now.toISOString(),
    released: found.metadata.generation,
    runs: 1,
    isPinned: false,
    hold: undefined,
    job: undefined,
    replicas: 0,
  }
  const releases = reportOf(found, { observed, progress, rollout, pods: [], replicas: 0 }, now)
  const status = nextStatus(found, { progress, rollout, inventory: entriesOf(desired.manifests), releases }, now)
  const { name, namespace = '', uid = '' } = found.metadata
  const reported = { apiVersion: application.apiVersion, kind: application.kind, metadata: { name, namespace, uid }, status }
  await apply(application, reported, 'status')
  await create(events, eventOf(found))
  done += 1
}

async function writeEverything(): Promise<void> {
  const list = JSON.parse(await send('GET', `/apis/${application.apiVersion}/${application.plural}`)) as { items: Application[] }
  const { apiVersion, kind } = application
  await someAtATime(list.items, workers, item => writeAll({ ...item, apiVersion, kind }))
}

await dispatchCommands({
  async start() {
    writeEverything().catch((error: unknown) => {
      process.stderr.write(`${messageOf(error)}\n`)
      process.exit(1)
    })
    return { started: true }
  },
  count: async () => ({ reconciles: done }),
  memory: async () => ({ heapBytes: liveHeapBytes() }),
})
process.exit(0)
