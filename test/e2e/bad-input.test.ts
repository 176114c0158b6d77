// Mistakes of users: each one results in an understandable reason, a message that says what to do, and an Event; no controller
// loops, and the shop serves all the time. All objects are created together, so that the file takes as long as its slowest
// mistake.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Condition } from '../../src/api/resource.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { eventsAbout, forgetObjects, read, readyOf, untilGone, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { type Watch, watchServing } from './serving.ts'
import { expectStillness } from './stillness.ts'

type Mistake = {
  readonly reference: string
  readonly manifest: object
  readonly reason: string
  /** Patterns of the message: what is wrong, and what to do. */
  readonly patterns: readonly RegExp[]
  /** Its status counts restarts, so it may change. */
  readonly moves?: true
}

/** What may still become right by itself is no Warning. */
const inProgress: ReadonlySet<string> = new Set(['WaitingForImage', 'NotAnsweringYet'])

const noSuchDigest = `sha256:${'0'.repeat(64)}`

function mistakes(image: string): readonly Mistake[] {
  const application = (name: string, reason: string, patterns: readonly RegExp[], spec: object): Mistake => ({
    reference: `application/e2e-${name}`,
    manifest: applicationManifest(`e2e-${name}`, { image, ...spec }),
    reason,
    patterns,
  })
  const remoteSync = (name: string, reason: string, patterns: readonly RegExp[], spec: object): Mistake => ({
    reference: `remotesync/e2e-${name}`,
    manifest: remoteSyncManifest(`e2e-${name}`, { ...spec }),
    reason,
    patterns,
  })
  const web = { name: 'web', port: 3000, memory: '128Mi' }
  return [
    remoteSync('no-repository', 'GrantDenied', [/does not reach acme\/nothing-here/, /check the names/], {
      repository: 'acme/nothing-here',
    }),
    remoteSync(
      'no-access',
      'GrantDenied',
      [/dave does not have read access to acme\/secret-plans/, /somebody who has it must make the request/],
      {
        repository: 'acme/secret-plans',
      },
    ),
    remoteSync(
      'no-branch',
      'BranchNotFound',
      [/spec\.source\.branch/, /has no branch e2e-never-was/, /push it, or name another/],
      {
        source: { branch: 'e2e-never-was' },
      },
    ),
    remoteSync(
      'no-installation',
      'InstallationNotReady',
      [/spec\.installation/, /no Installation nowhere/, /kubectl get installations/],
      {
        installation: 'nowhere',
      },
    ),
    remoteSync('no-application', 'ApplicationNotFound', [/spec\.application/, /no Application e2e-absent/, /create it/], {
      application: 'e2e-absent',
    }),
    remoteSync('second-rider', 'ApplicationTaken', [/RemoteSync shop already keeps Application shop/, /delete one of the two/], {
      application: 'shop',
    }),
    application('no-image', 'WaitingForImage', [/spec\.image is not set/, /create a RemoteSync .* or set it$/], {
      image: undefined,
    }),
    application('bad-image', 'ImagePullFailed', [/cannot be pulled/, /check spec\.image/], {
      image: `${image.split('@')[0]}@${noSuchDigest}`,
    }),
    {
      ...application('crash', 'Crashing', [/process web exits with code 3/, /kubectl logs -n acme e2e-crash-web-\S+ -c web/], {
        processes: [{ ...web, command: ['node', '-e', 'console.log("no database"); process.exit(3)'] }],
      }),
      moves: true,
    },
    application('no-secret', 'SecretNotFound', [/spec\.envFrom\[0\].*no AppSecret e2e-absent/, /sekisho secrets set/], {
      envFrom: [{ secret: 'e2e-absent' }],
    }),
    application('no-settings', 'EnvironmentIncomplete', [/there is no ConfigMap e2e-absent/, /create it, or correct spec\.env/], {
      envFrom: [{ configMap: 'e2e-absent' }],
    }),
    application(
      'no-program',
      'CommandNotFound',
      [/process web cannot start: the image has no program e2e-absent/, /correct command/],
      {
        processes: [{ ...web, command: ['e2e-absent'] }],
      },
    ),
    {
      // Slow to start as far as anybody knows; after the Deployment's deadline it becomes NotAnswering.
      ...application('no-listener', 'NotAnsweringYet', [/process web/, /3000/], {
        processes: [{ ...web, command: ['node', '-e', 'setInterval(() => {}, 1000)'] }],
      }),
      moves: true,
    },
    application('too-large', 'QuotaExceeded', [/memory/, /request less .* or ask a platform admin/], {
      processes: [{ ...web, memory: '4000Gi' }],
    }),
    application(
      'bad-job',
      'ReleaseJobFailed',
      [/exited with code 4/, /no table notes/, /kubectl logs -n acme job\/e2e-bad-job-release-v1/],
      {
        releaseJob: { command: ['node', '-e', 'console.log("no table notes"); process.exit(4)'] },
      },
    ),
    application(
      'endless-job',
      'ReleaseJobTimedOut',
      [/did not end within 10 seconds/, /kubectl logs -n acme job\/e2e-endless-job-release-v1/],
      {
        releaseJob: { command: ['node', '-e', 'setInterval(() => {}, 1000)'], timeoutSeconds: 10 },
      },
    ),
    application('no-chart', 'ChartNotFound', [/no ApplicationChart e2e-none/, /kubectl get applicationcharts/], {
      chart: 'e2e-none',
    }),
    application('throws', 'ChartFailed', [/ApplicationChart e2e-throws: the colour must be red or green/], {
      chart: 'e2e-throws',
    }),
    application('endless', 'ChartTimedOut', [/ApplicationChart e2e-endless: .*did not return within 1 s/], {
      chart: 'e2e-endless',
    }),
    application(
      'foreign-domain',
      'DomainTaken',
      [/spec\.domains: shop\.globex\.localhost belongs to another namespace/, /end in \.acme\.localhost/],
      {
        domains: ['shop.globex.localhost'],
      },
    ),
    application(
      'unproven-domain',
      'DomainNotProven',
      [/_sekisho-challenge\.sekisho-broker\.sekisho-system\.svc TXT "sekisho-tenant=/, /ask a platform admin/],
      {
        domains: ['sekisho-broker.sekisho-system.svc'],
      },
    ),
    application('imposter', 'DomainTaken', [/spec\.domains: shop\.acme\.localhost is used by Application shop/, /remove it/], {
      domains: ['shop.acme.localhost'],
    }),
  ]
}

const charts: Readonly<Record<string, string>> = {
  'e2e-throws': "export function chart() { throw new Error('the colour must be red or green') }",
  'e2e-endless': 'export function chart() { for (;;); }',
}
const chartNames = Object.keys(charts)

let platform: Platform
let shop: Watch
let all: readonly Mistake[]

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  const { admin } = platform
  const shopNow = await read(admin, 'application/shop')
  all = mistakes(String(shopNow.status?.['image']))
  await cleanUp()
  shop = await watchServing(admin, String(shopNow.status?.['url']))
  for (const [name, source] of Object.entries(charts)) {
    await admin.apply(`/api/v1/namespaces/sekisho-system/configmaps/${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { 'chart.js': source },
    })
    await admin.apply(`/apis/apps.sekisho.dev/v1alpha1/applicationcharts/${name}`, {
      apiVersion: 'apps.sekisho.dev/v1alpha1',
      kind: 'ApplicationChart',
      metadata: { name },
      spec: { configMap: { name }, timeoutSeconds: 1 },
    })
  }
  await platform.apply(
    'dave',
    all.map(mistake => mistake.manifest),
  )
})

async function cleanUp(): Promise<void> {
  const { admin } = platform
  await platform.remove([...all.map(({ reference }) => reference), ...chartNames.map(name => `applicationchart/${name}`)])
  const configMaps = chartNames.map(name => `configmap/${name}`)
  await forgetObjects(admin, configMaps, 'sekisho-system')
  await untilGone(admin, configMaps, 'sekisho-system')
}

afterAll(async () => {
  await cleanUp()
  await platform.admin.close()
})

test('every mistake results in its reason, a message that says what to do, and a Warning Event', async () => {
  const outcomes = await Promise.all(
    all.map(async ({ reference, reason, patterns }): Promise<readonly string[]> => {
      const ready = await untilReason(platform.admin, reference, reason, 90).catch(
        (error: unknown): Condition => ({
          type: 'Ready',
          status: 'False',
          reason: '',
          message: String(error),
          lastTransitionTime: '',
          observedGeneration: 0,
        }),
      )
      if (ready.reason !== reason) return [`${reference}: ${ready.message}`]
      const problems = patterns
        .filter(pattern => !pattern.test(ready.message))
        .map(pattern => `${reference}: the message is "${ready.message}", not ${pattern}`)
      if (ready.status !== 'False') problems.push(`${reference}: Ready is ${ready.status}`)
      if (/keeps serving/.test(ready.message)) problems.push(`${reference}: nothing served before, but: ${ready.message}`)
      const { metadata } = await read(platform.admin, reference)
      const wanted = inProgress.has(reason) ? 'Normal' : 'Warning'
      // Events are written after the status.
      await waitUntil(`the ${wanted} Event ${reason} of ${reference}`, async () => {
        const events = await eventsAbout(platform.admin, metadata.uid)
        const recorded = events.some(
          event => event.reason === reason && event.type === wanted && patterns.every(pattern => pattern.test(event.message)),
        )
        if (!recorded) throw new Error(events.map(event => `${event.type} ${event.reason}: ${event.message}`).join('; '))
        return true
      }).catch((error: unknown) => problems.push(String(error)))
      return problems
    }),
  )
  expect(outcomes.flat()).toEqual([])
})

test('`kubectl describe` shows the developer the reason and what to do', async () => {
  const { output } = await platform.kubectl('dave', ['describe', 'remotesync/e2e-no-branch', '-n', 'acme'])
  expect(output).toMatch(/BranchNotFound/)
  expect(output).toMatch(/push it, or name another one/)
})

test('no controller loops: objects, Events and reconcile counts do not change afterwards', async () => {
  const still = all.filter(({ moves }) => moves !== true).map(({ reference }) => reference)
  await expectStillness(platform.admin, still, 6, 15)
})

test('a continuing crash loop adds no Events of ours', async () => {
  const { metadata } = await read(platform.admin, 'application/e2e-crash')
  const events = (await eventsAbout(platform.admin, metadata.uid)).filter(({ reason }) => reason === 'Crashing')
  expect(events.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(2)
})

test('a value out of bounds is refused at once with a message that names the field', async () => {
  const port = await platform.kubectl(
    'dave',
    ['apply', '-f', '-'],
    JSON.stringify(applicationManifest('e2e-bounds', { processes: [{ name: 'web', port: 70_000 }] })),
  )
  expect(port).toMatchObject({ code: 1 })
  expect(port.errors).toMatch(/spec\.processes\[0\]\.port/)
  const both = await platform.kubectl(
    'dave',
    ['apply', '-f', '-'],
    JSON.stringify(remoteSyncManifest('e2e-bounds', { source: { branch: 'main', pullRequest: 1 } })),
  )
  expect(both).toMatchObject({ code: 1 })
  expect(both.errors).toMatch(/source must set at most one of branch, pullRequest, commit/)
})

test('a mistake in the running Application is reported, and the previous version keeps serving', async () => {
  const { admin } = platform
  const running = await read(admin, 'application/shop')
  const patch = (chart: string): Promise<unknown> =>
    platform.kubectl('dave', [
      'patch',
      'application/shop',
      '-n',
      'acme',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { chart } }),
    ])
  try {
    await patch('e2e-throws')
    const ready = await untilReason(admin, 'application/shop', 'ChartFailed')
    expect(ready.message).toMatch(/the version before keeps serving/)
    expect((await read(admin, 'application/shop')).status).toMatchObject({
      url: running.status?.['url'],
      commit: running.status?.['commit'],
    })
  } finally {
    await patch('web')
  }
  await untilReason(admin, 'application/shop', 'Available')
  expect(readyOf(await read(admin, 'application/shop'))?.status).toBe('True')
})

test('the shop answered 200 all the time', async () => {
  await shop.endServed(21)
})
