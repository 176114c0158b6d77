// The objects of the bench and what can be observed of them from outside: created all at once, counted cheaply while
// controllers work on them, checked one by one when they report that they are done, and deleted.
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import { changedByText } from '../../../src/api/apps/application/changed-by.ts'
import { type Application, application } from '../../../src/api/apps/application.ts'
import { release } from '../../../src/api/apps/release.ts'
import { changedByAnnotation } from '../../../src/api/names.ts'
import { AppError } from '../../../src/lib/errors.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { someAtATime } from '../load/some-at-a-time.ts'
import { type MadeObjects, madeKind } from './observed/made-objects.ts'

export const ingress = { publicUrl: new URL('http://localhost:8080'), className: 'traefik' }

/** The tenants' namespaces: Applications are distributed over them evenly. */
export const namespaces: readonly string[] = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)

const [group = '', version = ''] = application.apiVersion.split('/')
const childCollections = [
  { path: '/apis/apps/v1', plural: 'deployments' },
  { path: '/api/v1', plural: 'services' },
  { path: '/apis/networking.k8s.io/v1', plural: 'ingresses' },
] as const
const applicationCollection = { path: `/apis/${group}/${version}`, plural: application.plural }
/** No garbage collector runs here: a Release that stays would belong to an Application of the same name that is gone. */
const releaseCollection = { path: `/apis/${release.apiVersion}`, plural: release.plural }
const eventCollection = { path: '/api/v1', plural: 'events' }

const commit = '0123456789abcdef0123456789abcdef01234567'
const image = `registry.example.com/acme/shop@sha256:${'0123456789abcdef'.repeat(4)}`

function applicationNumber(number: number): Record<string, unknown> {
  return {
    apiVersion: application.apiVersion,
    kind: application.kind,
    metadata: {
      name: `shop-${number}`,
      namespace: namespaces[number % namespaces.length],
      // As admission, which does not run here, records it.
      annotations: { [changedByAnnotation]: changedByText('', 1, { user: 'github|github.com|1', login: undefined }) },
    },
    spec: {
      image,
      commit,
      chart: 'web',
      processes: [{ name: 'web', port: 3000, replicas: 1, healthPath: '/healthz', cpu: '50m', memory: '256Mi' }],
      env: ['DATABASE_HOST', 'LOG_LEVEL', 'FEATURE_SET'].map(name => ({ name, value: `value of ${name.toLowerCase()}` })),
    },
  }
}

type Numbers = { readonly from: number; readonly count: number }

/** Runs `work` for each number from `from` up to (not including) `count`, with at most `atOnce` concurrently. */
async function forEachNumber(
  { from, count }: Numbers,
  atOnce: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  await someAtATime(
    Array.from({ length: Math.max(0, count - from) }, (_, at) => from + at),
    atOnce,
    work,
  )
}

/** Creates the missing Applications up to `count`, when the first `from` exist. */
export function createApplications(admin: AdminClient, count: number, from = 0): Promise<void> {
  return forEachNumber({ from, count }, 16, number => {
    const object = applicationNumber(number)
    const namespace = namespaces[number % namespaces.length]
    return admin.call('POST', `${applicationCollection.path}/namespaces/${namespace}/${application.plural}`, object)
  })
}

/**
 * Plays the Deployment controller, which does not run here: it has observed the Deployments from `from` up to `count`, and no
 * pod is ready.
 */
export function observeDeployments(admin: AdminClient, count: number, from: number): Promise<void> {
  return forEachNumber({ from, count }, 16, number => {
    const path = `/apis/apps/v1/namespaces/${namespaces[number % namespaces.length]}/deployments/shop-${number}-web/status`
    return admin.call('PATCH', path, { status: { observedGeneration: 1 } }, 'application/merge-patch+json')
  })
}

type ListAnswer = {
  readonly items: readonly unknown[]
  readonly metadata: { readonly remainingItemCount?: number }
}

/** Lists one item and adds `remainingItemCount`: the cheapest count that the API server offers. */
async function countOf(admin: AdminClient, collection: { readonly path: string; readonly plural: string }): Promise<number> {
  const answer = (await admin.call('GET', `${collection.path}/${collection.plural}?limit=1`)) as ListAnswer
  return answer.items.length + (answer.metadata.remainingItemCount ?? 0)
}

/** Services that exist before the bench: that of the API server itself. */
const foreignServices = 1

export async function childrenCount(admin: AdminClient): Promise<number> {
  const counts = await Promise.all(childCollections.map(collection => countOf(admin, collection)))
  return counts.reduce((sum, count) => sum + count, 0) - foreignServices
}

export async function listApplications(admin: AdminClient): Promise<readonly Application[]> {
  const answer = (await admin.call('GET', `${applicationCollection.path}/${application.plural}`)) as ListAnswer
  return answer.items as readonly Application[]
}

/** Whether the status lists three children and reports that they were applied. */
function isReported({ status, metadata }: Application): boolean {
  const rendered = status?.conditions?.find(({ type }) => type === 'Rendered')
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return (
    status?.inventory?.length === 3 &&
    rendered?.status === 'True' &&
    ready?.reason === 'RollingOut' &&
    ready.observedGeneration === metadata.generation
  )
}

/** Returns why waiting is pointless: the time is over, or the controller has ended. */
type Hopeless = () => Promise<string | undefined>

const patience = { timeoutMilliseconds: limits.minutes }

/** Resolves when there are three children for each of `count` Applications. */
export async function allChildrenExist(admin: AdminClient, count: number, hopeless: Hopeless): Promise<void> {
  await waitUntil(
    `${3 * count} children`,
    async () => {
      const present = await childrenCount(admin)
      if (present !== 3 * count) throw new AppError('unavailable', `there are ${present}`)
      return true
    },
    { ...patience, hopeless },
  )
}

/** Resolves when the status of every Application reports it as well. */
export async function allReported(admin: AdminClient, count: number, hopeless: Hopeless): Promise<void> {
  await waitUntil(
    `the status of ${count} Applications`,
    async () => {
      const all = await listApplications(admin)
      const reported = all.filter(isReported).length
      if (reported !== count) throw new AppError('unavailable', `${reported} of ${all.length} are reported`)
      return true
    },
    { ...patience, everyMilliseconds: 250, hopeless },
  )
}

/** The API server itself records Events about Services. */
const selectors: Readonly<Record<string, string>> = { events: `?fieldSelector=involvedObject.kind=${application.kind}` }

async function listInTenants(
  admin: AdminClient,
  { path, plural }: { readonly path: string; readonly plural: string },
): Promise<readonly unknown[]> {
  const urls = namespaces.map(namespace => `${path}/namespaces/${namespace}/${plural}${selectors[plural] ?? ''}`)
  const lists = await Promise.all(urls.map(url => admin.call('GET', url)))
  return lists.flatMap(list => (list as ListAnswer).items)
}

/**
 * Resolves with what was made when there is one object of each kind for each of `count` Applications. Events are the last ones.
 */
export async function allMade(admin: AdminClient, count: number, hopeless: Hopeless): Promise<MadeObjects> {
  await waitUntil(
    `${count} Events`,
    async () => {
      const present = (await listInTenants(admin, eventCollection)).length
      if (present !== count) throw new AppError('unavailable', `there are ${present}`)
      return true
    },
    { timeoutMilliseconds: limits.rollout, everyMilliseconds: 500, hopeless },
  )
  const made: Record<string, MadeObjects[string]> = {}
  for (const collection of [applicationCollection, releaseCollection, ...childCollections, eventCollection])
    made[collection.plural] = madeKind(await listInTenants(admin, collection))
  const wrong = Object.entries(made).filter(([, { number }]) => number !== count)
  if (wrong.length === 0) return made
  throw new AppError(
    'internal',
    `there must be ${count}: ${wrong.map(([plural, { number }]) => `${number} ${plural}`).join(', ')}`,
  )
}

async function isEmpty(admin: AdminClient): Promise<boolean> {
  const counts = [applicationCollection, releaseCollection].map(collection => countOf(admin, collection))
  return [await childrenCount(admin), ...(await Promise.all(counts))].every(count => count === 0)
}

/** Deletes all objects of the bench and waits until they are gone. */
export async function deleteEverything(admin: AdminClient): Promise<void> {
  const collections = [applicationCollection, releaseCollection, ...childCollections, eventCollection]
  // One namespace after the other: deleting ten thousand objects takes the API server longer than one request may last.
  for (const namespace of namespaces)
    await Promise.all(
      collections.map(({ path, plural }) =>
        admin.call('DELETE', `${path}/namespaces/${namespace}/${plural}`, { propagationPolicy: 'Background' }),
      ),
    )
  await waitUntil('an empty cluster', async () => (await isEmpty(admin)) || undefined, patience)
}
