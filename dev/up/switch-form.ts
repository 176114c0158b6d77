// `make up` with another MODE than what runs: replaces one form by the other. Tenants, Installations and Applications stay,
// because they are objects of the cluster. A form's database does not stay: it knows nothing of what happens under the other
// form, and its audit log would contradict the checkpoints. So people sign in again, and the log begins anew
// (docs/adr/0026-two-forms-on-one-base.md).
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Progress } from '../cluster/progress.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import { databaseFolder, stopPlatformServer } from '../postgres/platform-server.ts'
import type { Kubectl } from './kubectl.ts'
import { deploymentsOf, type Mode, modeOf, modes, platformNamespace } from './mode.ts'
import { databaseObjects } from './overlay/production.ts'
import { dataFolder } from './overlay/standalone.ts'
import { platformSelector } from './platform-pods.ts'
import { deleteAll, identityOf, renderedObjects } from './rollout/rendered.ts'
import { secretsOf } from './secrets/platform-secrets.ts'

const inNamespace = ['-n', platformNamespace, '--ignore-not-found']

/** The form that runs, by its Deployments. */
export async function formInCluster(kubectl: Kubectl): Promise<Mode | undefined> {
  const names = await kubectl.run(['get', 'deployments', ...inNamespace, '-o', 'name'])
  return modeOf(names.split('\n').map(name => name.replace(/^.*\//, '')))
}

/**
 * Removes everything of `former` that `next` does not have, and what would contradict `next`. Safe to repeat after an
 * interruption.
 */
export async function removeFormer(
  { kubectl, settings, progress }: { readonly kubectl: Kubectl; readonly settings: ClusterSettings; readonly progress: Progress },
  former: Mode,
  next: Mode,
): Promise<void> {
  progress.note(
    `the ${former} form gives way to the ${next} form: tenants and their applications stay, the database and its audit log do not`,
  )
  progress.note('people sign in again; installation tokens that the former database knows end by themselves within an hour')
  const deployments = deploymentsOf[former].map(name => `deployment/${name}`)
  await progress.step(`stop the ${former} form`, async () => {
    await kubectl.run(['scale', ...deployments, '--replicas=0', '-n', platformNamespace])
    const pods = ['pod', '-l', platformSelector(), '-n', platformNamespace]
    await kubectl.run(['wait', '--for=delete', ...pods, '--timeout=90s'], 100_000)
  })
  await progress.step('forget its database', () => forgetDatabase(kubectl, settings, former))
  await progress.step('delete what only that form has', () => deleteObjects(kubectl, settings, former, next))
}

/** The Deployments are deleted last: as long as they exist, an interrupted change goes on with the next `up`. */
async function deleteObjects(kubectl: Kubectl, settings: ClusterSettings, former: Mode, next: Mode): Promise<void> {
  const leases = former === 'standalone' ? ['sekisho'] : ['sekisho-broker', 'sekisho-controllers', 'sekisho-data-services']
  const own = [
    ...secretsOf[former].map(name => `secret/${name}`),
    ...leases.map(name => `lease/${name}`),
    ...(former === 'production' ? ['job/sekisho-migrate', 'networkpolicy/sekisho-migrate', ...databaseObjects] : []),
  ]
  await kubectl.run(['delete', ...own, ...inNamespace])
  const rendered = await Promise.all(
    modes.map(async mode => [mode, await renderedObjects(kubectl, join(settings.repository, 'deploy', mode))] as const),
  )
  const objects = new Map(rendered)
  const kept = new Set(objects.get(next)?.map(identityOf))
  const gone = (objects.get(former) ?? []).filter(object => !kept.has(identityOf(object)))
  const last = gone.filter(({ kind }) => kind === 'Deployment')
  for (const group of [gone.filter(object => !last.includes(object)), last]) await deleteAll(kubectl, group)
}

/** The data, the checkpoints of its audit log, and the sign-ins and verified heads that the people of the demo keep at home. */
async function forgetDatabase(kubectl: Kubectl, settings: ClusterSettings, former: Mode): Promise<void> {
  await kubectl.run(['delete', 'configmap/sekisho-audit-checkpoints', ...inNamespace])
  if (former === 'standalone') {
    await kubectl.run(['delete', 'persistentvolumeclaim/sekisho-data', ...inNamespace])
    await kubectl.run(['delete', 'persistentvolume/sekisho-data', '--ignore-not-found'])
    await rm(dataFolder(settings), { recursive: true, force: true })
  } else {
    await stopPlatformServer(settings)
    await rm(databaseFolder(settings), { recursive: true, force: true })
  }
  await forgetHomes(settings)
}

/** The homes of people hold sign-ins and verified heads of the audit log, which another platform's log would contradict. */
export async function forgetHomes(settings: ClusterSettings): Promise<void> {
  for (const homes of ['demo', 'attack', 'e2e']) await rm(join(settings.stateFolder, homes), { recursive: true, force: true })
}
