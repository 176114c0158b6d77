// One pod of globex takes what all pods of the node share, up to its limits, and holds it. A second pod, with another uid as
// another tenant has, goes on using a little of each: it shows whether anything is left.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { corePath } from '../cluster/api-attempts.ts'
import { podSpec } from '../cluster/mounts.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { type Line, type Played, parseLines, whatIsTaken } from './node-limits-lines.ts'

const pods = corePath(neighbourNamespace, 'pods')
const bystander = 'attack-node-bystander'
const taker = 'attack-node-taker'
const rounds = 3

export const nodeLimitAttacks: readonly Attack[] = [
  {
    name: 'node/shared-limits',
    as: 'gary, admin of globex',
    against: 'all pods of the node',
    tries:
      'A pod takes pseudo-terminals, AIO events, inotify instances, epoll watches and processes until it is refused, and holds them.',
    expected: ['bound'],
    alone: true,
    attempts: world => {
      const played = playedOnce(world)
      return Object.entries(whatIsTaken).map(
        ([what, { name, most }]): Attempt => ({ name, run: async () => judgeTaken(await played(), what, most) }),
      )
    },
  },
]

/** `most`: more than this many were never meant to be given to one pod, whatever is left for others. */
export function judgeTaken({ taken, during }: Played, what: string, most: number): Verdict {
  const own = taken.find(line => line.what === what)
  if (own === undefined || during.length === 0) return unclear('the pods did not say what they got')
  const count = `the pod took ${own.taken} (${own.refused})`
  const failures = during.flatMap(({ failed }) => (failed[what] === undefined ? [] : [failed[what]]))
  if (failures.length > 0) return succeeded(`${count}, and another pod gets none: ${failures[0]}`)
  if (own.taken > most) return succeeded(`${count}; the bound is ${most}`)
  return stopped('bound', `${count}; meanwhile another pod was served ${during.length} of ${during.length} times`)
}

function playedOnce(world: World): () => Promise<Played> {
  let played: Promise<Played> | undefined
  return () => {
    played ??= play(world)
    return played
  }
}

async function play(world: World): Promise<Played> {
  try {
    const uid = await run(world, { name: bystander, mode: 'use', memory: '64Mi' })
    await waitUntil(
      'control: the bystander gets all it uses',
      async () => {
        const last = (await lines(world, bystander)).at(-1)
        return last?.kind === 'use' && Object.keys(last.failed).length === 0
      },
      { timeoutMilliseconds: limits.rollout },
    )
    await run(world, { name: taker, mode: 'take', memory: '512Mi', uid: uid + 1 })
    const taken = await waitUntil(
      'the pod to hold what it took',
      async () => {
        const said = await lines(world, taker)
        return said.some(({ kind }) => kind === 'held') ? said : undefined
      },
      { timeoutMilliseconds: limits.build },
    )
    const before = (await lines(world, bystander)).length
    const during = await waitUntil('the bystander to go on', async () => {
      // The round that was in progress is left out.
      const later = (await lines(world, bystander)).slice(before + 1)
      return later.length < rounds ? undefined : later
    })
    return { taken: taken.filter(line => line.kind === 'take'), during: during.filter(line => line.kind === 'use') }
  } finally {
    await Promise.all([taker, bystander].map(name => world.api('gary', 'DELETE', `${pods}/${name}?gracePeriodSeconds=0`)))
  }
}

/** Starts a pod of globex under this name that takes all it is given, and holds it; resolves when it holds it. */
export async function runTaker(world: World, name: string): Promise<void> {
  await run(world, { name, mode: 'take', memory: '512Mi' })
  await waitUntil('the pod to hold what it took', async () => (await lines(world, name)).some(({ kind }) => kind === 'held'), {
    timeoutMilliseconds: limits.build,
  })
}

type Wanted = { readonly name: string; readonly mode: 'use' | 'take'; readonly memory: string; readonly uid?: number }

const uidOfImages = 1001

/** Resolves to the uid that the pod was admitted with. */
async function run(world: World, { name, mode, memory, uid }: Wanted): Promise<number> {
  const source = await readFile(join(import.meta.dirname, '../agent/node-limits.py'), 'utf8')
  const container = {
    command: ['/usr/bin/python3', '-c', source, mode],
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory } },
  }
  const user = uid === undefined ? {} : { runAsUser: uid }
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...user }
  const spec = podSpec(await world.ownImage(), { securityContext }, container)
  await world.journal.note({ kind: 'object', path: `${pods}/${name}` })
  const { status, text } = await world.api('gary', 'POST', pods, {
    json: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec },
  })
  if (status !== 201) throw new Error(`gary cannot run a pod of his own: ${status} ${text}`)
  const admitted = JSON.parse(text) as { readonly spec: { readonly securityContext?: { readonly runAsUser?: number } } }
  return admitted.spec.securityContext?.runAsUser ?? uidOfImages
}

async function lines(world: World, name: string): Promise<readonly Line[]> {
  const { status, text } = await world.api('gary', 'GET', `${pods}/${name}/log`)
  return status === 200 ? parseLines(text) : []
}
