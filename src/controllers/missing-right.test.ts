// A right that the platform lost: every kind whose controller writes by a RoleBinding says so, in the same words. The API
// server is one that refuses every write but that of a status as RBAC does; the caches are real.
// test/integration/missing-right.test.ts has the real authorizer.
import { expect, test } from 'vitest'
import { appPipeline } from '../api/apps/app-pipeline.ts'
import { appSecret } from '../api/apps/app-secret.ts'
import { application } from '../api/apps/application.ts'
import { githubReport } from '../api/apps/github-report.ts'
import { previewApproval } from '../api/apps/preview-approval.ts'
import { remoteSync } from '../api/apps/remote-sync.ts'
import { roleBindings } from '../api/builtin/index.ts'
import { halt } from '../api/github/halt.ts'
import { installation } from '../api/github/installation.ts'
import { repositoryGrant } from '../api/github/repository-grant.ts'
import { kinds } from '../api/registry.ts'
import type { Condition, KubeObject, ResourceType } from '../api/resource.ts'
import { tenant } from '../api/tenancy/tenant.ts'
import { createObjectCache, type Listener, type ObjectCache } from '../kube/cache/object-cache.ts'
import { KubeError } from '../kube/client/errors.ts'
import type { ControllerDefinition } from '../kube/controller/controller.ts'
import { reportedGeneration } from '../kube/object/conditions.ts'
import type { ObjectEvent } from '../kube/object/events.ts'
import { createFakeClock } from '../lib/testing/fake-clock.ts'
import { silentLog } from '../lib/testing/silent-log.ts'
import { createAppPipelineController } from './app-pipeline/index.ts'
import { createAppSecretController } from './app-secret/index.ts'
import { createApplicationController } from './application/index.ts'
import { createGitHubReportController } from './github-report/index.ts'
import { createHaltController } from './halt/index.ts'
import { createInstallationController } from './installation/index.ts'
import { rightMissing } from './kit/missing-right.ts'
import { createPreviewApprovalController } from './preview-approval/index.ts'
import { createRemoteSyncController } from './remote-sync/index.ts'
import { createRepositoryGrantController } from './repository-grant/index.ts'
import { createTenantController } from './tenant/index.ts'

type Reporting = KubeObject & { readonly status?: { readonly observedGeneration?: number; readonly conditions?: Condition[] } }

const start = Date.parse('2026-03-03T10:00:00Z')
const long = '2026-03-03T09:00:00Z'
const user = 'system:serviceaccount:sekisho-system:sekisho-controllers'
const refusal = (why = ''): KubeError =>
  new KubeError(
    `apply Secret acme/x: 403 Forbidden: secrets "x" is forbidden: User "${user}" cannot patch resource "secrets" in API group "" in the namespace "acme"${why}`,
    { status: 403, reason: 'Forbidden' },
  )
const message =
  'the platform lacks the right to patch secrets in namespace acme: the controller of the Tenant puts the RoleBinding sekisho:controllers there back; when its role was changed, a platform admin applies the roles of the platform again (deploy/rbac). See `kubectl describe rolebinding sekisho:controllers -n acme`'

/** Of an earlier generation, Ready for an hour, and with a condition that nothing here is about. */
function objectOf(type: ResourceType, spec: object, more: object = {}): Reporting {
  const condition = { status: 'True', message: '', observedGeneration: 1, lastTransitionTime: long } as const
  const conditions = [
    { ...condition, type: 'Listed', reason: 'Other' },
    { ...condition, type: 'Ready', reason: 'Fine' },
  ]
  const namespace = type.namespaced ? { namespace: 'acme' } : {}
  const metadata = { name: 'shop', uid: 'u', generation: 2, resourceVersion: '1', creationTimestamp: long, ...namespace }
  return { ...type, metadata, spec, status: { observedGeneration: 1, conditions, ...more } } as Reporting
}

/** A platform without the right, with the objects that its caches show. */
function platform(error: Error) {
  const clock = createFakeClock(start)
  const caches = new Map<string, ObjectCache<KubeObject>>()
  const events: ObjectEvent[] = []
  const statuses: Reporting[] = []
  const cache = (type: ResourceType, scope?: object): ObjectCache<KubeObject> => {
    const name = `${type.kind} ${JSON.stringify(scope)}`
    const found = caches.get(name) ?? createObjectCache<KubeObject>()
    caches.set(name, found)
    return found
  }
  const refuse = (): Promise<never> => Promise.reject(error)
  const client = {
    get: async () => undefined,
    list: async () => [],
    applyStatus: async (type: ResourceType, object: Reporting) => {
      statuses.push(object)
      const stored = cache(type).get(key(object))
      return { ...stored, ...object, metadata: { ...stored?.metadata, resourceVersion: String(1 + statuses.length) } }
    },
    ...{ create: refuse, apply: refuse, mergePatch: refuse, delete: refuse },
  }
  const record = (_object: unknown, event: ObjectEvent): void => void events.push(event)
  const manager = { cache, client }
  const shared = { manager, client, events: { record }, clock, log: silentLog, platformNamespace: 'sekisho-system' }
  return { shared, cache, events, statuses, clock, error }
}

type Platform = ReturnType<typeof platform>
type Case = { readonly type: ResourceType; readonly object: Reporting; readonly create: (on: Platform) => ControllerDefinition }

const follower = { installation: 'github', repository: 'acme/shop', requestedBy: 'github|github.com|1' }
const noBuilders = {
  kpack: { installed: false, settings: {} },
  buildkit: undefined,
  buildpacks: undefined,
  logs: { collectFrom: () => {} },
}
const gone = { kind: 'RemoteSync', name: 'gone', uid: 'v' }

/** Of each kind an object for which something has to be written: a finalizer, or the end of a report whose subject is gone. */
const cases: readonly Case[] = [
  {
    type: tenant,
    object: objectOf(tenant, { namespace: 'acme', account: {}, roles: [] }),
    create: ({ shared }) => createTenantController({ ...shared, settings: {} } as never),
  },
  {
    type: installation,
    object: objectOf(installation, { app: 'default', account: {} }),
    create: ({ shared }) => createInstallationController(shared as never),
  },
  {
    type: repositoryGrant,
    object: objectOf(repositoryGrant, { installation: 'github', subjects: [] }),
    create: ({ shared }) => createRepositoryGrantController(shared as never),
  },
  {
    type: halt,
    object: objectOf(halt, { target: { type: 'Everything' } }),
    create: ({ shared }) => createHaltController(shared as never),
  },
  {
    type: appSecret,
    object: objectOf(appSecret, { sealed: {} }),
    create: ({ shared }) => createAppSecretController(shared as never),
  },
  {
    type: appPipeline,
    object: objectOf(appPipeline, follower),
    create: ({ shared }) => createAppPipelineController({ ...shared, sweepMilliseconds: 1 } as never),
  },
  {
    type: remoteSync,
    object: objectOf(remoteSync, { ...follower, application: 'shop', build: {} }),
    create: ({ shared }) => createRemoteSyncController({ ...shared, ...noBuilders, sweepMilliseconds: 1 } as never),
  },
  {
    type: githubReport,
    object: objectOf(githubReport, { follower: gone }),
    create: ({ shared }) => createGitHubReportController(shared as never),
  },
  {
    type: application,
    object: objectOf(application, { chart: 'web' }),
    // What objects the chart renders does not matter here: objects/apply-objects.ts throws what RBAC refused.
    create: ({ shared, error }) =>
      createApplicationController({
        ...shared,
        ingress: { publicUrl: new URL('https://apps.example.test'), className: 'x' },
        registry: {},
        renderer: {},
        changePace: {
          wait() {
            throw error
          },
        },
      } as never),
  },
]

const key = ({ metadata: { namespace, name } }: KubeObject) => (namespace === undefined ? { name } : { namespace, name })

function run(controller: ControllerDefinition, object: KubeObject) {
  const { signal } = new AbortController()
  return controller.reconcile({ key: key(object), log: silentLog, signal, reconcileId: 'r' })
}

test('every kind that has the reason is one of these', () => {
  const having = kinds.filter(({ options }) => options.reasons.byName.has('RightMissing')).map(({ kind }) => kind)
  expect(having.toSorted()).toEqual(cases.map(({ type }) => type.kind).toSorted())
})

test.each(cases.map(one => [one.type.kind, one] as const))(
  '%s names the right, keeps what it knew, and is retried',
  async (_, one) => {
    const on = platform(refusal())
    const { type, object } = one
    const controller = one.create(on)
    on.cache(type).replace([object])
    await expect(run(controller, object)).rejects.toBe(on.error)
    const ready = { type: 'Ready', status: 'False', reason: 'RightMissing', message, observedGeneration: 2 }
    expect(on.statuses.map(({ status }) => status)).toEqual([
      // A generation that was not carried out is not called observed: RemoteSyncs would go on with the commit of the one before.
      {
        observedGeneration: 1,
        conditions: [object.status?.conditions?.[0], { ...ready, lastTransitionTime: '2026-03-03T10:00:00Z' }],
      },
    ])

    // Whoever asks whether the newest change was looked at gets that answer.
    expect(reportedGeneration(on.statuses[0]?.status)).toBe(2)

    // A second attempt writes nothing, whether or not the cache shows the first one.
    await expect(run(controller, object)).rejects.toBe(on.error)
    expect(on.statuses).toHaveLength(1)
  },
)

test.each(cases.map(one => [one.type.kind, one] as const))('%s calls nothing else a missing right', async (_, one) => {
  const byQuota = 'create Secret acme/x: 403 Forbidden: secrets "x" is forbidden: exceeded quota: tenant'
  const byPolicy = `create Secret acme/x: 403 Forbidden: secrets "x" is forbidden: ValidatingAdmissionPolicy 'p' denied request: User "x" cannot be`
  for (const [text, status] of [[byQuota, 403] as const, [byPolicy, 403] as const, ['apply: 500 InternalError', 500] as const]) {
    const on = platform(new KubeError(text, { status, reason: 'Forbidden' }))
    const controller = one.create(on)
    on.cache(one.type).replace([one.object])
    await expect(run(controller, one.object)).rejects.toBe(on.error)
    expect(on.statuses).toEqual([])
  }
})

test.each(cases.filter(({ type }) => type.namespaced).map(one => [one.type.kind, one] as const))(
  'a RoleBinding that is put back wakes a %s that waits for it, also one in the namespace of its builds',
  (_, one) => {
    const on = platform(refusal())
    const controller = one.create(on)
    const waiting = { ...one.object.status?.conditions?.[1], status: 'False', reason: 'RightMissing' }
    const status = { conditions: [waiting] } as never
    const other = { ...one.object.metadata, name: 'fine', uid: 'w' }
    on.cache(one.type).replace([{ ...one.object, status } as KubeObject, { ...one.object, metadata: other }])
    for (const [namespace, expected] of [
      ['acme', ['shop']] as const,
      ['acme-build', ['shop']] as const,
      ['globex', []] as const,
    ]) {
      const woken: string[] = []
      const source = {
        subscribe(type: ResourceType, _scope: object, listener: Listener<never>) {
          const metadata = { name: 'sekisho:controllers', namespace }
          if (type === roleBindings) listener({ new: { ...roleBindings, metadata } as never, initial: false })
        },
      }
      for (const { attach } of controller.watches ?? []) attach(source as never, ({ name }) => woken.push(name))
      expect(woken).toEqual(expected)
    }
  },
)

test('what prevents a PreviewApproval is reported by an Event on its AppPipeline, whose status another controller writes', async () => {
  const on = platform(refusal())
  const status = { repository: { id: 7, name: 'acme/shop', requested: 'acme/shop' } }
  const pipeline = objectOf(appPipeline, follower, status)
  const approval = { pipeline: { name: 'shop', uid: 'u' }, repository: 7, number: 1, headCommit: 'a'.repeat(40) }
  const controller = createPreviewApprovalController({ ...on.shared, sweepMilliseconds: 1 } as never)
  on.cache(appPipeline).replace([pipeline])
  on.cache(previewApproval).replace([objectOf(previewApproval, approval)])
  await expect(run(controller, pipeline)).rejects.toBe(on.error)
  expect([on.statuses, on.events]).toEqual([[], [{ type: 'Warning', reason: 'RightMissing', message }]])
})

test('where the status may not be written either, the reconcile fails with its own error', async () => {
  const on = platform(refusal())
  const applyStatus = () => Promise.reject(refusal(' (status)'))
  const client = { ...on.shared.client, applyStatus }
  const object = objectOf(appSecret, { sealed: {} })
  const controller = createAppSecretController({ ...on.shared, manager: { ...on.shared.manager, client } } as never)
  on.cache(appSecret).replace([object])
  await expect(run(controller, object)).rejects.toBe(on.error)
})

const now = new Date(start)
const textOf = (error: unknown): string | undefined => rightMissing(objectOf(appSecret, {}), error, now)?.message

test('rights that were given a moment ago are waited for without a word', () => {
  const young = { ...appSecret, metadata: { name: 'x', creationTimestamp: '2026-03-03T09:59:50Z' } }
  expect(rightMissing(young, refusal(), now)).toBeUndefined()
  expect(rightMissing(young, refusal(), new Date(start + 20_000))?.reason).toBe('RightMissing')
})

test('the message has what the authorizer adds, groups and subresources, and the cure of the place', () => {
  const role = ': RBAC: clusterrole.rbac.authorization.k8s.io "sekisho:x" not found'
  expect(textOf(refusal(role))).toContain(
    'in namespace acme (RBAC: clusterrole.rbac.authorization.k8s.io "sekisho:x" not found): the',
  )
  const forbidden = (text: string) => new KubeError(`x: 403 Forbidden: ${text}`, { status: 403, reason: 'Forbidden' })
  const subject = `builds "b" is forbidden: User "${user}" cannot`
  const build = `${subject} create resource "builds" in API group "kpack.io" in the namespace "acme-build"`
  expect(textOf(forbidden(build))).toMatch(
    /^the platform lacks the right to create builds \(kpack\.io\) in namespace acme-build: .* -n acme-build`$/,
  )
  const again = 'a platform admin applies the roles of the platform again (deploy/rbac)'
  const log = `${subject} get resource "pods/log" in API group "" in the namespace "sekisho-system"`
  expect(textOf(forbidden(log))).toBe(`the platform lacks the right to get pods/log in namespace sekisho-system: ${again}`)
  const bind = `${subject} create resource "namespaces" in API group "" at the cluster scope`
  expect(textOf(forbidden(bind))).toBe(`the platform lacks the right to create namespaces in the cluster: ${again}`)
  expect(textOf(forbidden(`${subject} get path "/metrics"`))).toMatch(/^the platform lacks a right: x: 403 .*deploy\/rbac\)$/)
})
