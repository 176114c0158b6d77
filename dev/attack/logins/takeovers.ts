// Logins that change hands: globex and gary get other ones, and noah, a stranger, registers theirs. Everything goes on by
// number: what follows the repository of globex, and who somebody is.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { attemptLogin } from '../../demo/scenario/sign-in.ts'
import { type Attack, type Attempt, endingWith } from '../attack.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { syncAttempt } from '../deputies/deputies.ts'
import { github } from '../deputies/fork-pull-request.ts'
import { objectAttempt, type Shown } from '../deputies/object-attempts.ts'
import { grantOf } from '../races/token-requests.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { rename, restoreLogins } from '../world/logins.ts'
import { applicationsPath, type World } from '../world/world.ts'

const syncs = groupPath('apps.sekisho.dev/v1alpha1', neighbourNamespace, 'remotesyncs')
const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
const moved = 'moved-globex'
const taken = 'attack-taken-login'

type Followed = { readonly repository?: { readonly id: number; readonly name: string }; readonly commit?: string }

async function siteOf({ admin }: World): Promise<Followed> {
  return (((await admin.call('GET', `${syncs}/site`)) as Shown).status ?? {}) as Followed
}

/** globex/site of the stranger. Resolves to its newest commit. */
async function plant(world: World): Promise<string> {
  await github(world, 'noah', 'POST /user/repos', { body: { name: 'site', private: false, auto_init: true } })
  return (await github(world, 'noah', 'GET /repos/globex/site/commits/main')).sha
}

/** What follows the repository of globex goes on with its number and its commit; undefined until it has its new name. */
export function judgeFollowed(before: Followed, after: Followed, planted: string): Verdict | undefined {
  const text = `${JSON.stringify(after.repository)}, ${after.commit}`
  if (after.repository?.id !== before.repository?.id || after.commit === planted) return succeeded(`the RemoteSync took ${text}`)
  if (after.repository?.name !== `${moved}/site`) return undefined
  return after.commit === before.commit ? stopped('controller', `followed by number: ${text}`) : unclear(text)
}

/** noah signs in under the login of another. */
async function signsIn(world: World, login: string): Promise<Verdict> {
  const { code, said } = await attemptLogin(world.demo, { ...world.demo.people.noah, login })
  if (code === 0) return succeeded(`${login}, who is noah, got an ID token`)
  return said.includes('no role in any tenant') ? stopped('broker', said) : unclear(said)
}

async function organisation(world: World): Promise<readonly Attempt[]> {
  await world.ownImage()
  const before = await siteOf(world)
  await rename(world, 'globex', moved)
  await rename(world, 'noah', 'globex')
  const planted = await plant(world)
  return [
    {
      name: 'noah: a commit in globex/site, which he registered',
      run: () =>
        waitUntil('the RemoteSync to see the new name', async () => judgeFollowed(before, await siteOf(world), planted), {
          timeoutMilliseconds: limits.rollout,
        }),
    },
    syncAttempt(world, taken, 'a RemoteSync of globex/site, which is noah’s now', { repository: 'globex/site' }),
    objectAttempt(world, {
      name: 'a grant on globex/site, which is noah’s now',
      path: grants,
      object: grantOf(taken, 'default', 3600),
      refusals: /^(DeniedByPolicy|RepositoryNotFound|Requester\w+)$/,
      harm: async ({ status }) =>
        status?.['decision'] === 'Approved' ? `approved for ${JSON.stringify(status['repositories'])}` : undefined,
    }),
    { name: 'noah: signs in with the login globex', run: () => signsIn(world, 'globex') },
  ]
}

async function person(world: World): Promise<readonly Attempt[]> {
  await rename(world, 'gary', 'moved-gary')
  await rename(world, 'noah', 'gary')
  return [{ name: 'noah: signs in with the login gary', run: () => signsIn(world, 'gary') }]
}

/** The RemoteSync of the site has the name again by which the other attacks know it. */
async function restore(world: World): Promise<void> {
  await github(world, 'noah', 'DELETE /repos/globex/site', { mayBeGone: true })
  await restoreLogins(world)
  // It counts in the quota of the tenant, which floods use up.
  await world.admin.request('DELETE', `${applicationsPath}/${taken}`)
  await waitUntil('the RemoteSync to see the old name', async () => (await siteOf(world)).repository?.name === 'globex/site', {
    timeoutMilliseconds: limits.rollout,
  })
}

/** What is renamed for the attempts is as it was when the last of them has ended. */
function restoring(
  prepare: (world: World) => Promise<readonly Attempt[]>,
  after: (world: World) => Promise<void>,
): Attack['attempts'] {
  return async world => {
    try {
      return endingWith(await prepare(world), () => after(world))
    } catch (error) {
      await after(world)
      throw error
    }
  }
}

export const takeoverAttacks: readonly Attack[] = [
  {
    name: 'logins/organisations',
    alone: true,
    as: 'noah, who registers the login that globex had',
    against: 'what follows the repositories of globex, and the rights of its people',
    tries: 'Puts a repository under the old name, to be built and to be in tokens, and signs in as the organisation.',
    expected: ['controller', 'broker'],
    peer: 'repojacking: logins of organisations that were registered again',
    form: 'long',
    attempts: restoring(organisation, restore),
  },
  {
    name: 'logins/people',
    alone: true,
    as: 'noah, who registers the login that gary had',
    against: 'the rights of gary in globex',
    tries: 'Signs in as gary.',
    expected: ['broker'],
    form: 'long',
    attempts: restoring(person, restoreLogins),
  },
]
