// What a report is about: found by the key of the report; the end of a preview is certain or is not reported.
import { describe, expect, test } from 'vitest'
import { previewServiceName } from '../../api/apps/app-pipeline/services.ts'
import { maxRows } from '../../api/apps/app-pipeline/status.ts'
import { type AppPipeline, appPipeline } from '../../api/apps/app-pipeline.ts'
import type { Application } from '../../api/apps/application.ts'
import type { GitHubReport } from '../../api/apps/github-report.ts'
import type { RemoteSync } from '../../api/apps/remote-sync.ts'
import { type KubeObject, keyOf, keyText, type ObjectKey } from '../../api/resource.ts'
import { ownedBindingName } from '../../api/services/application-services.ts'
import { createFakeClock, type FakeClock } from '../../lib/testing/fake-clock.ts'
import { createReportWait } from '../kit/reconcile-with-finalizer.ts'
import { addSubjectIndexes, applicationIndex, type SubjectDeps, subjectOf } from './subject.ts'

const at = '2026-01-01T00:00:00.000Z'

/** A cache with fixed objects. */
function cacheOf<T extends KubeObject>(...objects: readonly T[]) {
  const indexes = new Map<string, (object: T) => readonly string[]>()
  return {
    get: (key: { name: string; namespace?: string }) => objects.find(object => keyText(keyOf(object)) === keyText(key)),
    addIndex: (name: string, values: (object: T) => readonly string[]) => void indexes.set(name, values),
    byIndex: (name: string, value: string) => objects.filter(object => indexes.get(name)?.(object).includes(value)),
  }
}

type Rows = NonNullable<NonNullable<AppPipeline['status']>['previews']>
const row = (number: number) => ({ number, headCommit: 'a'.repeat(40), state: 'Running', since: at }) as Rows[number]

type Changes = {
  readonly rows?: Rows
  readonly listed?: 'True' | 'False'
  readonly deleting?: boolean
  readonly report?: boolean
  readonly repository?: number
}

function pipeline({ rows = [], listed = 'True', deleting = false, report = true, repository = 4001 }: Changes = {}): AppPipeline {
  return {
    apiVersion: appPipeline.apiVersion,
    kind: appPipeline.kind,
    metadata: { name: 'shop', namespace: 'acme', uid: 'p', ...(deleting ? { deletionTimestamp: at } : {}) },
    spec: { repository: 'acme/shop', installation: 'github', report, template: { application: {}, build: {}, source: 'Head' } },
    status: {
      repository: { id: repository, name: 'acme/shop', requested: 'acme/shop' },
      previews: rows,
      conditions: [{ type: 'Listed', status: listed, reason: 'r', message: 'm', lastTransitionTime: at, observedGeneration: 1 }],
    },
  } as unknown as AppPipeline
}

const child = (uid: string) =>
  ({
    metadata: { name: 'shop-pr-1', namespace: 'acme', ownerReferences: [{ kind: 'AppPipeline', uid, controller: true }] },
    spec: { application: 'shop-pr-1' },
  }) as unknown as Application & RemoteSync

const key = { namespace: 'acme', name: 'apppipeline-shop-pr-1' }
const report = (uid = 'p', kinds: readonly string[] = []) =>
  ({
    metadata: key,
    spec: { follower: { kind: 'AppPipeline', name: 'shop', uid }, repositoryId: 4001, pullRequest: 1 },
    status: { writes: kinds.map(kind => ({ kind })) },
  }) as unknown as GitHubReport

type World = {
  readonly pipeline: AppPipeline
  readonly children?: readonly (Application & RemoteSync)[]
  readonly report?: GitHubReport
  readonly key?: ObjectKey
}

function subject({ pipeline: one, children = [], report: known, key: asked = key }: World) {
  const caches = { pipelines: cacheOf(one), applications: cacheOf(...children), remoteSyncs: cacheOf(...children) }
  const deps = { caches, publicUrl: new URL('https://sekisho.example.test') } as unknown as SubjectDeps
  addSubjectIndexes(deps.caches)
  return subjectOf(deps, asked, known)
}

describe('the subject of a report', () => {
  test('is the row with its key, before there is a report', () => {
    expect(subject({ pipeline: pipeline({ rows: [row(2), row(1)] }) })).toMatchObject({
      identity: { follower: { kind: 'AppPipeline', uid: 'p' }, repositoryId: 4001, pullRequest: 1 },
      situation: { phase: 'Running' },
      context: { environment: 'preview/shop', task: 'deploy:sekisho:shop-pr-1', statusContext: 'sekisho/preview/shop' },
    })
  })

  test.each([
    ['the row is gone and nothing is left', { pipeline: pipeline() }, 'Gone'],
    ['GitHub could not be asked', { pipeline: pipeline({ listed: 'False' }) }, undefined],
    ['the Application exists', { pipeline: pipeline(), children: [child('p')] }, undefined],
    ['something of that name belongs to somebody else', { pipeline: pipeline(), children: [child('x')] }, 'Gone'],
    [
      'the AppPipeline is being deleted',
      { pipeline: pipeline({ listed: 'False', deleting: true }), children: [child('p')] },
      'Gone',
    ],
  ] as const)('without a row, when %s: %s', (_what, world, phase) => {
    expect(subject({ ...world, report: report() })?.situation?.phase).toBe(phase)
  })

  test('a row may be missing from a list that is too long: only a preview that was deployed has ended', () => {
    const full = pipeline({ rows: Array.from({ length: maxRows }, (_, index) => row(index + 2)) })
    expect(subject({ pipeline: full, report: report() })?.situation).toBeUndefined()
    expect(subject({ pipeline: full, report: report('p', ['Deployment']) })?.situation?.phase).toBe('Gone')
  })

  test('leaves the status of a shared commit to the pull request that was opened first, and to nobody when all end', () => {
    const rows = [row(1), row(2), { ...row(3), headCommit: 'b'.repeat(40) }, { ...row(4), state: 'WaitingForApproval' as const }]
    const others = (number: number, deleting = false) => {
      const name = `apppipeline-shop-pr-${number}`
      return subject({ pipeline: pipeline({ rows, deleting }), key: { namespace: 'acme', name } })?.context.othersCommits
    }
    expect(others(1)).toEqual(['b'.repeat(40)])
    expect(others(2)).toEqual(['a'.repeat(40), 'b'.repeat(40)])
    expect(others(3)).toEqual(['a'.repeat(40)])
    expect(others(4)).toEqual(['a'.repeat(40), 'b'.repeat(40)])
    expect(others(2, true)).toEqual([])
  })

  test('knows the credentials that a build log must not repeat: also of a service that the preview has for itself', () => {
    const one = pipeline({ rows: [row(1)] })
    const services = [{ name: 'db', instance: 'shared', access: 'ReadWrite' as const }]
    const bindingsWith = (own: readonly { readonly name: string; readonly class: string }[]) => {
      const template = { ...one.spec.template, application: { services }, services: own } as AppPipeline['spec']['template']
      return subject({ pipeline: { ...one, spec: { ...one.spec, template } } })?.bindings
    }
    const use = { name: 'db', access: 'ReadWrite' as const }
    const entry = { name: 'db', class: 'postgresql' }
    expect(bindingsWith([])).toEqual([ownedBindingName('shop-pr-1', { ...use, instance: 'shared' })])
    const instance = previewServiceName(one.metadata, 1, entry)
    expect(bindingsWith([entry])).toEqual([ownedBindingName('shop-pr-1', { ...use, instance })])
  })

  test('is none where reports are off, and not that of another object of the same name', () => {
    expect(subject({ pipeline: pipeline({ rows: [row(1)], report: false }) })).toBeUndefined()
    expect(subject({ pipeline: pipeline(), report: report('former') })).toBeUndefined()
  })

  test('has another identity when the repository is another one: a number means another pull request there', () => {
    const moved = subject({ pipeline: pipeline({ rows: [row(1)], repository: 4002 }), report: report() })
    expect(moved?.identity).toMatchObject({ repositoryId: 4002 })
    const first = subject({ pipeline: pipeline({ rows: [row(1)] }) })
    expect(moved?.context.marker).not.toBe(first?.context.marker)
  })
})

test('a RemoteSync of several Applications is one report, with the URL of the first that has one and the secrets of all', () => {
  const application = (name: string, url: string | undefined, secret: string) =>
    ({
      metadata: { name, namespace: 'acme', uid: name },
      spec: { envFrom: [{ secret }] },
      status: { url },
    }) as unknown as Application
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Deployed', message: 'm', lastTransitionTime: at }]
  const sync = {
    metadata: { name: 'shop', namespace: 'acme', uid: 's', generation: 1 },
    spec: { repository: 'acme/shop', application: 'worker', otherApplications: ['api', 'site'], build: {}, report: {} },
    status: {
      repository: { id: 4001, name: 'acme/shop', requested: 'acme/shop' },
      commit: 'a'.repeat(40),
      conditions: conditions.map(one => ({ ...one, observedGeneration: 1 })),
    },
  } as unknown as RemoteSync
  const caches = {
    pipelines: cacheOf<AppPipeline>(),
    remoteSyncs: cacheOf<RemoteSync>(sync),
    applications: cacheOf<Application>(
      application('worker', undefined, 'queue'),
      application('api', 'http://api.example', 'database'),
      application('site', 'http://site.example', 'queue'),
    ),
  } as unknown as SubjectDeps['caches']
  addSubjectIndexes(caches)
  const deps = { caches, publicUrl: new URL('http://localhost') } as SubjectDeps
  const subject = subjectOf(deps, { namespace: 'acme', name: 'remotesync-shop' }, undefined)
  expect(subject?.situation).toMatchObject({ phase: 'Running', url: 'http://api.example' })
  expect(subject?.context).toMatchObject({ environment: 'worker', statusContext: 'sekisho/worker' })
  expect(subject?.secrets).toEqual(['queue', 'database'])
  for (const name of ['worker', 'api', 'site'])
    expect(caches.remoteSyncs.byIndex(applicationIndex, `acme/${name}`)).toEqual([sync])
})

describe('the end of what is followed', () => {
  const reports = (count: number) => Array.from({ length: count }, () => report())
  function waitFor(clock: FakeClock, counts: Readonly<Record<string, number>>) {
    return createReportWait(uid => reports(counts[uid] ?? 0), clock)
  }

  test('waits for its reports, for a bounded time', async () => {
    const clock = createFakeClock()
    const wait = waitFor(clock, { one: 1 })
    expect(wait('none')).toBeUndefined()
    expect(wait('one')).toEqual({ kind: 'requeue', requeueAfterMilliseconds: 65_000 })
    await clock.advance(64_999)
    expect(wait('one')).toMatchObject({ kind: 'requeue' })
    await clock.advance(1)
    expect(wait('one')).toBeUndefined()
    expect(wait('one')).toBeUndefined()
  })

  test('waits from when a process first looks, whatever the wall clock says', async () => {
    const clock = createFakeClock()
    const first = waitFor(clock, { one: 1 })
    first('one')
    clock.step(3_600_000)
    expect(first('one')).toMatchObject({ kind: 'requeue' })
    await clock.advance(600_000)
    expect(waitFor(clock, { one: 1 })('one')).toMatchObject({ kind: 'requeue', requeueAfterMilliseconds: 65_000 })
  })

  test('waits for the last of many as long as for all', async () => {
    const clock = createFakeClock()
    const counts = { many: 50 }
    const wait = waitFor(clock, counts)
    wait('many')
    counts.many = 1
    await clock.advance(300_000)
    expect(wait('many')).toMatchObject({ kind: 'requeue' })
  })
})
