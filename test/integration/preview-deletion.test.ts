// A namespace with six previews (fifty in the long form) is deleted and ends: finalizers wait for nobody who is gone. The
// platform is the product's: controllers in a process of their own, with the rights that the Tenant controller gives them in
// the namespace that is being deleted.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { appPipeline } from '../../src/api/apps/app-pipeline.ts'
import { application } from '../../src/api/apps/application.ts'
import { remoteSync } from '../../src/api/apps/remote-sync.ts'
import { namespaces } from '../../src/api/builtin/index.ts'
import { installation } from '../../src/api/github/installation.ts'
import { repositoryGrant } from '../../src/api/github/repository-grant.ts'
import { kinds } from '../../src/api/registry.ts'
import type { KubeObject } from '../../src/api/resource.ts'
import { tenant } from '../../src/api/tenancy/tenant.ts'
import { limits, timeLimit } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { isLong } from '../fixtures/form.ts'
import { openPreviewFixture, type PreviewPlatform, startPreviewPlatform } from '../fixtures/preview-platform.ts'
import { tokenLedger } from '../sweep/assertions/tokens.ts'
import type { Fixture } from '../sweep/environment/fixture.ts'

const previews = isLong('preview-deletion') ? 50 : 6
const runningPreviews = isLong('preview-deletion') ? 10 : 4
const namespaced = kinds.filter(kind => kind.namespaced)
/** Under these there are tokens, which are revoked before they end. */
const holders = [repositoryGrant.kind, installation.kind]
const others = namespaced.filter(({ kind }) => !holders.includes(kind))
const patience = { timeoutMilliseconds: limits.minutes, everyMilliseconds: 500 }
/** A token of GitHub lives for an hour. */
const tokensDeadMilliseconds = 61 * 60_000

let fixture: Fixture
beforeAll(async () => {
  fixture = await openPreviewFixture()
})
afterAll(() => fixture?.stop())

/** Some run, some are built, some wait. */
async function withPreviews(changes: object = {}): Promise<PreviewPlatform> {
  const platform = await startPreviewPlatform(fixture)
  onTestFinished(() => platform.stop())
  for (let index = 0; index < previews; index++) await platform.open(`work-${index}`)
  await platform.applyPipeline('shop', changes)
  await waitUntil(
    `every pull request has a preview, and ${runningPreviews} run`,
    async () => {
      const [applications, syncs, [pipeline]] = await Promise.all([
        platform.list(application),
        platform.list(remoteSync),
        platform.list(appPipeline),
      ])
      const running = pipeline?.status?.counts?.running ?? 0
      if (applications.length === previews && syncs.length === previews && running >= runningPreviews) return true
      throw new Error(`${applications.length} Applications, ${syncs.length} RemoteSyncs, ${running} run\n${platform.log()}`)
    },
    patience,
  )
  return platform
}

/** Waits until the namespaces of these uids are gone: while there is a Tenant, it makes others of their names. */
async function gone({ environment, list, log }: PreviewPlatform, uids: readonly string[]): Promise<void> {
  const { kube } = environment.fixture
  await waitUntil(
    'the namespaces are gone',
    async () => {
      const left = (await kube.list(namespaces)).filter(({ metadata }) => uids.includes(metadata.uid ?? ''))
      if (left.length === 0) return true
      throw new Error(`${heldIn((await Promise.all(namespaced.map(kind => list(kind)))).flat())}\n${log()}`)
    },
    patience,
  )
}

const heldIn = (objects: readonly KubeObject[]): string =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.finalizers}`).join('\n')

async function uidsOf({ environment }: PreviewPlatform): Promise<readonly string[]> {
  const { fixture, namespaces: names } = environment
  const found = await Promise.all(names.map(name => fixture.kube.get(namespaces, { name })))
  return found.map(namespace => namespace?.metadata.uid ?? expect.fail('no namespace'))
}

test('with its Tenant, when the grant of the AppPipeline was deleted before: no object and no token is left', {
  timeout: timeLimit(900_000),
}, async () => {
  const platform = await withPreviews()
  const { environment } = platform
  const { kube } = environment.fixture
  const uids = await uidsOf(platform)
  await kube.delete(repositoryGrant, { namespace: environment.namespace, name: 'apppipeline-shop' })
  await kube.delete(tenant, { name: environment.prefix })
  await gone(platform, uids)
  await waitUntil(
    'the Tenant is gone',
    async () => ((await kube.get(tenant, { name: environment.prefix })) ? undefined : true),
    patience,
  )
  expect(await tokenLedger(environment)).toMatchObject({ registered: [], leaked: 0, open: [], gaps: [] })
})

test('alone, while GitHub does not answer: only the grants and the Installation wait, no longer than the tokens under them live', {
  timeout: timeLimit(900_000),
}, async () => {
  // No Job can be made in a namespace that is being deleted: the hooks are not waited for.
  const platform = await withPreviews({ hooks: { deleted: { command: ['drop'], timeoutSeconds: 3600 } } })
  const { environment } = platform
  const { kube, github } = environment.fixture
  const [uid = ''] = await uidsOf(platform)
  github.context.faults.arm({ kind: 'rest-status', path: '/', status: 502 }, null)
  github.context.faults.arm({ kind: 'git-status', path: '/', status: 502 }, null)
  onTestFinished(() => github.context.faults.reset())
  await kube.delete(namespaces, { name: environment.namespace })
  await waitUntil(
    'only what holds tokens is left',
    async () => {
      const objects = await Promise.all(others.map(kind => platform.list(kind)))
      if (objects.flat().length === 0) return true
      throw new Error(heldIn(objects.flat()))
    },
    patience,
  )
  await platform.restart(tokensDeadMilliseconds)
  await gone(platform, [uid])
})
