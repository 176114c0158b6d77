// Requests for tokens at the very end of a grant: while it is deleted, at its first token, and while it expires. Whatever the
// desk still gives must be dead when the grant has ended; GitHub itself is asked with each token.
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { type Attack, type Attempt, inTurn } from '../attack.ts'
import { corePath } from '../cluster/api-attempts.ts'
import { makePod, tokenFor } from '../inside/desk.ts'
import { requireControls } from '../inside/network.ts'
import type { Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { type Answer, ask, grantOf, grants, judgeTokens, works } from './token-requests.ts'

const account = 'attack-ending'
/** The desk lets a pod ask fifty times at once, and then five times a second; other attacks ask from the same pod. */
const betweenRequests = 250
/** Of a revocation: GitHub is asked again after ten seconds. */
const revocationSeconds = 25
/** The shortest life that a grant can have. */
const shortestLife = 60

/** Resolves to when it ends. */
async function approved(world: World, name: string, lifetimeSeconds: number): Promise<number> {
  const path = `${grants}/${name}`
  await world.journal.note({ kind: 'object', path })
  const answer = await world.api('gary', 'POST', grants, { json: grantOf(name, account, lifetimeSeconds) })
  if (answer.status !== 201) throw new Error(`gary cannot grant access to his own repository: ${answer.status} ${answer.text}`)
  return waitUntil(
    `the grant ${name} to be approved`,
    async () => {
      const { status } = (await world.admin.call('GET', path)) as { status?: { decision?: string; expiresAt?: string } }
      return status?.decision === 'Approved' && status.expiresAt !== undefined ? Date.parse(status.expiresAt) : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

/** The tokens that GitHub takes when all of them had the time to be revoked. */
async function aliveOf({ demo, http }: World, answers: readonly Answer[]): Promise<readonly string[]> {
  let alive = [...new Set(answers.flatMap(({ token }) => token ?? []))]
  for (const deadline = Date.now() + revocationSeconds * 1000; alive.length > 0 && Date.now() < deadline; await pause(500)) {
    const stillWork = await Promise.all(alive.map(token => works(demo, http, token)))
    alive = alive.filter((_, index) => stillWork[index])
  }
  return alive
}

type Deletion = {
  readonly name: string
  /** A token exists before the deletion. */
  readonly warm: boolean
  /** How long after the requests the deletion is sent. */
  readonly milliseconds: number
}

/** One grant: requests, its deletion among them, and a request when it is gone. */
async function deleted(world: World, identity: string, { name, warm, milliseconds }: Deletion): Promise<Verdict> {
  await approved(world, name, 3600)
  const before = warm ? [await ask(world, identity, name)] : []
  const [token] = before.flatMap(one => one.token ?? [])
  const workedBefore = token !== undefined && (await works(world.demo, world.http, token))
  const requests = [ask(world, identity, name), ask(world, identity, name)]
  await pause(milliseconds)
  await world.api('gary', 'DELETE', `${grants}/${name}`)
  const endedAt = Date.now()
  const during = await Promise.all([...requests, ask(world, identity, name)])
  await waitUntil('the grant to be gone', async () => (await world.admin.request('GET', `${grants}/${name}`)).status === 404, {
    timeoutMilliseconds: limits.rollout,
  })
  const answers = [...before, ...during, await ask(world, identity, name)]
  // Whether a first token was given before the end is up to chance: the attempts with one show that tokens work.
  return judgeTokens({ answers, alive: await aliveOf(world, answers), workedBefore: workedBefore || !warm, endedAt })
}

/** Of a first token on a busy machine. */
const mintMilliseconds = 8000
/** Requests begin so long before the end, and go on for as long after it. */
const aroundMilliseconds = 1200

/** Requests from a second before the end of the grant until a second after it. `warm`: a token exists by then. */
async function expired(world: World, identity: string, warm: boolean): Promise<Verdict> {
  const name = `attack-ending-expiry-${warm ? 'warm' : 'first'}`
  const endedAt = await approved(world, name, shortestLife)
  await pause(endedAt - Date.now() - mintMilliseconds)
  const before = warm ? [await ask(world, identity, name)] : []
  const [token] = before.flatMap(one => one.token ?? [])
  const workedBefore = token !== undefined && (await works(world.demo, world.http, token))
  await pause(endedAt - Date.now() - aroundMilliseconds)
  const requests: Promise<Answer>[] = []
  for (; Date.now() < endedAt + aroundMilliseconds; await pause(betweenRequests)) requests.push(ask(world, identity, name))
  const answers = [...before, ...(await Promise.all(requests))]
  return judgeTokens({ answers, alive: await aliveOf(world, answers), workedBefore: workedBefore || !warm, endedAt })
}

async function attempts(world: World): Promise<readonly Attempt[]> {
  await requireControls(world)
  const accounts = corePath(neighbourNamespace, 'serviceaccounts')
  await world.journal.note({ kind: 'object', path: `${accounts}/${account}` })
  const json = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } }
  await world.api('gary', 'POST', accounts, { json })
  const identity = await tokenFor(world, await makePod(world, `${account}-${Date.now()}`, account), ['sekisho'])
  const pauses = { first: [30, 120, 250, 500], warm: [0, 15, 40, 80] }
  const deletion = (warm: boolean) => (milliseconds: number) => ({
    name: `pod of globex: ${warm ? 'a token that exists' : 'the first token'}, and the grant is deleted ${milliseconds} ms later`,
    run: () => deleted(world, identity, { name: `attack-ending-${warm ? 'warm' : 'first'}-${milliseconds}`, warm, milliseconds }),
  })
  return [
    { name: 'pod of globex: a token that exists, and the grant expires', run: () => expired(world, identity, true) },
    {
      name: 'pod of globex: the first token, in the second in which the grant expires',
      run: () => expired(world, identity, false),
    },
    ...inTurn([...pauses.first.map(deletion(false)), ...pauses.warm.map(deletion(true))]),
  ]
}

export const grantEndAttacks: readonly Attack[] = [
  {
    name: 'races/grant-ends',
    as: 'a pod of globex, under the ServiceAccount that its grant names',
    against: 'the end of a grant: its deletion and its expiry',
    tries: 'Requests tokens in the moment in which the grant ends, and uses each of them afterwards.',
    expected: ['token desk'],
    form: 'long',
    attempts,
  },
]
