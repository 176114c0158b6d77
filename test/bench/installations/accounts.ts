// Accounts that have used the platform for days: on GitHub an organisation with three repositories and the App, in the cluster an
// Installation and a grant for each repository. Their last checks were at different times, as they are after some days.
import type { AdminClient } from '../../../dev/cluster/control-plane/admin-client.ts'
import type { RunningEmulator } from '../../../dev/github/emulator.ts'
import { newRepository } from '../../../dev/github/state/repositories.ts'
import { type Installation, installation } from '../../../src/api/github/installation.ts'
import { type RepositoryGrant, repositoryGrant } from '../../../src/api/github/repository-grant.ts'
import { userSubject } from '../../../src/api/names.ts'
import { ownerChecksPerHour } from '../../../src/controllers/installation/owner-check-schedule.ts'
import { decisionInputs, defaultRecheckTimes, spreadOfGrant } from '../../../src/controllers/repository-grant/decision-inputs.ts'
import { spreadOf } from '../../../src/lib/limits/spread.ts'
import { createObject, trueCondition } from '../../fixtures/create-object.ts'
import { boundInstallation } from '../../fixtures/put-object.ts'
import { writeStatus } from '../../fixtures/write-status.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { appName } from '../../platform/process-plans.ts'
import { someAtATime } from '../load/some-at-a-time.ts'

export const grantsOfAccount = 3
const hour = 3_600_000
const olivia = { id: 1001, login: 'olivia' }
const firstAccount = 100_000
const firstRepository = 1_000_000
const lane = 8

const idOf = (index: number): number => firstAccount + index
const loginOf = (index: number): string => `org-${index}`
const repositoryOf = (index: number, grant: number) => ({
  id: firstRepository + index * grantsOfAccount + grant,
  name: `app-${grant}`,
})
const numbers = (count: number, from = 0): readonly number[] => Array.from({ length: count - from }, (_, at) => from + at)

/** Those from `from` up to `count`. */
export function onGitHub({ context }: RunningEmulator, from: number, count: number): void {
  const [app] = context.state.apps
  if (app === undefined) throw new Error('the emulator has no App')
  const createdAt = new Date(context.now()).toISOString()
  context.store.change(state => {
    for (const index of numbers(count, from)) {
      state.organizations.push({
        ...{ kind: 'organization', id: idOf(index), login: loginOf(index), name: `Organisation ${index}`, createdAt },
        ...{ basePermission: 'none', memberships: [{ userId: olivia.id, role: 'admin', state: 'active' }] },
      })
      for (const grant of numbers(grantsOfAccount))
        state.repositories.push(
          newRepository({
            ...repositoryOf(index, grant),
            ...{ ownerId: idOf(index), description: null, private: true, createdAt },
          }),
        )
      state.installations.push({
        ...{ id: idOf(index), appId: app.id, accountId: idOf(index), repositorySelection: 'all', repositoryIds: [] },
        ...{ permissions: app.permissions, events: app.events, createdAt, updatedAt: createdAt },
        ...{ suspendedAt: null, suspendedById: null },
      })
    }
  })
}

type Where = { readonly admin: AdminClient; readonly github: RunningEmulator }

async function makeAccount({ admin, github }: Where, index: number): Promise<void> {
  const [app] = github.context.state.apps
  const namespace = loginOf(index)
  await admin.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const account = { host: gitHubHost, id: idOf(index), login: loginOf(index) }
  const bound = boundInstallation(account, { contents: 'read' }, { app: appName, installationId: idOf(index) })
  const named = { namespace, name: 'github', finalizers: ['sekisho.dev/installation'] }
  const made = await createObject(admin, installation, named, bound)
  const status = { appId: app?.id, repositorySelection: 'all', permissions: app?.permissions }
  await writeStatus(admin, installation, named, {
    ...{ ...status, observedGeneration: 1 },
    conditions: [trueCondition('Verified', 'Verified'), trueCondition('Ready', 'Verified')],
  })
  for (const grant of numbers(grantsOfAccount)) {
    const { id, name } = repositoryOf(index, grant)
    const repository = `${loginOf(index)}/${name}`
    const place = { namespace, name: `read-${name}`, finalizers: ['sekisho.dev/repository-grant'] }
    await createObject(admin, repositoryGrant, place, {
      ...{ installation: 'github', repositories: [repository], permissions: { contents: 'read' } },
      ...{ subjects: [{ kind: 'ServiceAccount', name: 'runner' }], reason: 'a bench reads the repository' },
      requestedBy: userSubject(gitHubHost, olivia.id),
    })
    await writeStatus(admin, repositoryGrant, place, {
      ...{ decision: 'Approved', rule: 'bench', observedGeneration: 1, repositories: [{ id, name: repository }] },
      observedInputs: decisionInputs({ ...made, status } as Installation),
      ...{ requester: { login: olivia.login }, expiresAt: new Date(Date.now() + 720 * hour).toISOString() },
      conditions: [trueCondition('Approved', 'Approved'), trueCondition('Ready', 'Approved')],
    })
  }
}

/** Those from `from` up to `count`. */
export function inCluster(where: Where, from: number, count: number): Promise<void> {
  return someAtATime(numbers(count, from), lane, index => makeAccount(where, index))
}

/**
 * As it is at `now` after days at rest and an hour without controllers: each was checked at some time within the interval of its
 * next check, and grants, which are looked at every hour, up to an hour before. So the first look finds what is due in an hour.
 */
export async function spreadChecks({ admin }: Pick<Where, 'admin'>, now: number): Promise<void> {
  const listed = async <T>({ apiVersion, plural }: { readonly apiVersion: string; readonly plural: string }) =>
    ((await admin.call('GET', `/apis/${apiVersion}/${plural}`)) as { readonly items: readonly T[] }).items
  const installations = await listed<Installation>(installation)
  const grants = await listed<RepositoryGrant>(repositoryGrant)
  const ago = (milliseconds: number): string => new Date(now - milliseconds).toISOString()
  const place = ({ metadata }: Installation | RepositoryGrant) => ({ namespace: metadata.namespace, name: metadata.name })
  const { atRestMilliseconds, inUseMilliseconds } = defaultRecheckTimes
  const ownerInterval = Math.max(hour, (installations.length / ownerChecksPerHour) * hour)
  await someAtATime(numbers(installations.length), lane, async index => {
    const object = installations[index]
    if (object === undefined) return
    const share = (index + 0.5) / installations.length
    const ownerCheckedAt = ago(share * ownerInterval * spreadOf(object.metadata.uid ?? ''))
    await writeStatus(admin, installation, place(object), { ownerCheckedAt, verifiedAt: ago(share * 12 * hour) })
  })
  await someAtATime(numbers(grants.length), lane, async index => {
    const object = grants[index]
    if (object === undefined) return
    // Not in the order of their accounts.
    const share = (((index * 0.618_034) % 1) + 1) % 1
    const checkedAt = ago(share * (atRestMilliseconds + inUseMilliseconds) * spreadOfGrant(object))
    await writeStatus(admin, repositoryGrant, place(object), { checkedAt, decidedAt: ago(300 * hour) })
  })
}
