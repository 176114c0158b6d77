// Attempts that go through a controller: gary creates an object of a kind that he may create, and the question is what is made
// of it. The verdict comes from the API server when it refuses, else from the conditions, and from what the cluster shows. The
// object is deleted at once.
import { setTimeout as pause } from 'node:timers/promises'
import type { Attempt } from '../attack.ts'
import { judgeApi } from '../judge.ts'
import { type Layer, stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'

export type Shown = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation?: number }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason: string
      readonly message: string
      readonly observedGeneration?: number
    }[]
  }
}

export type ObjectAttempt = {
  readonly name: string
  readonly path: string
  readonly object: { readonly metadata: { readonly name: string } } & Readonly<Record<string, unknown>>
  /** Reasons of the condition Ready that say “refused”. */
  readonly refusals: RegExp
  /** Another condition that says “refused” by this reason, while Ready says nothing about it. */
  readonly refusedIn?: { readonly type: string; readonly reason: string }
  /** Another layer that stopped it, as the message of the condition says. */
  readonly toldOf?: { readonly message: RegExp; readonly by: Layer }
  /** Looks at the object, and the cluster, for the harm; undefined while there is none. */
  readonly harm?: (shown: Shown) => Promise<string | undefined>
  readonly seconds?: number
}

function conditionOf({ status, metadata }: Shown, wanted: string) {
  const found = status?.conditions?.find(({ type }) => type === wanted)
  // A condition of an earlier generation says nothing about this one.
  return found?.observedGeneration === undefined || found.observedGeneration === metadata.generation ? found : undefined
}

export const readyOf = (shown: Shown) => conditionOf(shown, 'Ready')

export function objectAttempt(world: World, planned: ObjectAttempt): Attempt {
  return {
    name: `gary: ${planned.name}`,
    async run() {
      const path = `${planned.path}/${planned.object.metadata.name}`
      await world.journal.note({ kind: 'object', path })
      const answer = await world.api('gary', 'POST', planned.path, { json: planned.object })
      if (answer.status >= 300) return judgeApi(answer)
      try {
        return await untilJudged(world, planned, path)
      } finally {
        await world.admin.request('DELETE', `${path}?propagationPolicy=Background`)
      }
    },
  }
}

type Ready = NonNullable<ReturnType<typeof readyOf>>
type Signs = Pick<ObjectAttempt, 'refusals'> & { readonly toldOf: ObjectAttempt['toldOf']; readonly watchesHarm: boolean }

/** Undefined while the controller has not come to an end. */
function judgeReady({ status, reason, message }: Ready, { refusals, toldOf, watchesHarm }: Signs): Verdict | undefined {
  const text = `${reason}: ${message}`
  if (status === 'True') return watchesHarm ? unclear(`${text}; but no harm is to be seen`) : succeeded(text)
  if (refusals.test(reason)) return stopped('controller', text)
  return toldOf?.message.test(message) ? stopped(toldOf.by, text) : undefined
}

async function untilJudged(
  { admin, watcher }: World,
  { refusals, refusedIn, toldOf, harm, seconds = 40 }: ObjectAttempt,
  path: string,
): Promise<Verdict> {
  let last = 'no condition'
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await pause(200)) {
    const answer = await admin.request('GET', path)
    if (answer.status !== 200) return unclear(`the object is gone: ${answer.status}`)
    watcher.see(path, JSON.stringify(answer.body))
    const shown = answer.body as Shown
    const damage = await harm?.(shown)
    if (damage !== undefined) return succeeded(damage)
    const other = refusedIn && conditionOf(shown, refusedIn.type)
    if (other && other.reason === refusedIn.reason) return stopped('controller', `${other.reason}: ${other.message}`)
    const ready = readyOf(shown)
    if (ready !== undefined) last = `${ready.reason}: ${ready.message}`
    const verdict = ready && judgeReady(ready, { refusals, toldOf, watchesHarm: harm !== undefined })
    if (verdict !== undefined) return verdict
  }
  return unclear(last)
}
