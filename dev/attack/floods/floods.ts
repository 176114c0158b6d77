// Floods as attacks: for a few seconds, after which all clients must be served; and, with `--floods`, for a minute, during
// which acme is measured against its own idle time: every use at most twice as long, at most 200 MB more memory of each
// process, and no more calls of GitHub and rows of the audit log than the documentation says (bounds.ts).
import type { Attack, Attempt } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { platformAddresses } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { type Bounds, boundsOf } from './bounds.ts'
import { type Measured, useAsBystander, useOnce } from './bystander.ts'
import type { Flood } from './flood.ts'
import { floods } from './kinds.ts'
import { openLoop, outcomesText } from './load.ts'

const few = 3
const minute = 60
const idleSeconds = 60
const maxRatio = 2
const maxMegabytes = 200
/** A use that takes milliseconds may take this much longer without being noticed. */
const unnoticedMilliseconds = 30
/** What may take this long, whatever it takes in idle time. */
const maxMilliseconds: { readonly [use in keyof Measured['uses']]?: number } = { 'new Service': 2000 }
/**
 * With fewer samples the 99th percentile is the slowest one, which says more about chance than about the flood: then the 90th
 * is compared.
 */
const samplesOfTail = 100

/** Resolves to what was sent, and to what `beside` saw meanwhile. */
async function play<T>(world: World, flood: Flood, seconds: number, beside: () => Promise<T>): Promise<readonly [string, T]> {
  const { once, end } = await flood.prepare(world)
  try {
    const [sent, seen] = await Promise.all([openLoop({ perSecond: flood.perSecond, seconds }, once), beside()])
    return [outcomesText(sent), seen]
  } finally {
    await end?.()
  }
}

function short(world: World, flood: Flood): Attempt {
  return {
    name: `${flood.name} for ${few} s, then the bystander`,
    async run() {
      const [sent] = await play(world, flood, few, async () => {})
      const failed = await useOnce(world)
      return failed === undefined
        ? stopped('bound', `${sent}; afterwards acme signs in, gets tokens and uses kubectl`)
        : succeeded(`${sent}; afterwards: ${failed}`)
    },
  }
}

const idle = new WeakMap<World, Promise<Measured>>()

/** acme without any flood, measured once for all. */
function idleOf(world: World): Promise<Measured> {
  const known = idle.get(world) ?? useAsBystander(world, idleSeconds)
  idle.set(world, known)
  return known
}

function percentile(list: readonly number[], part: number): number {
  const sorted = list.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/**
 * A flood beside idle time: a line for each use at the median and near the end of the tail, one for the rest, and what is
 * beyond its bound.
 */
export function compare(
  quiet: Measured,
  busy: Measured,
  bounds: Bounds,
): { readonly lines: readonly string[]; readonly problems: readonly string[] } {
  const problems: string[] = []
  const lines = Object.entries(quiet.uses).map(([use, list]) => {
    const other = busy.uses[use as keyof Measured['uses']]
    const tail = Math.min(list.length, other.length) < samplesOfTail ? 0.9 : 0.99
    const cells = [0.5, tail].map(part => {
      const [before, after] = [percentile(list, part), percentile(other, part)]
      const ratio = after / before
      const enough = Math.max(before + unnoticedMilliseconds, maxMilliseconds[use as keyof Measured['uses']] ?? 0)
      if (!(ratio <= maxRatio || after <= enough)) problems.push(`${use} p${part * 100} ${ratio.toFixed(1)}×`)
      return `p${part * 100} ${before.toFixed(0)} → ${after.toFixed(0)} ms (${ratio.toFixed(1)}×)`.padEnd(34)
    })
    return `${use.padEnd(12)} ${cells.join(' ')}${other.length} times`
  })
  for (const [use, count] of busy.failures) problems.push(`${use} failed ${count} times`)
  for (const [process, megabytes] of busy.memoryMegabytes)
    if (megabytes > maxMegabytes) problems.push(`memory of ${process} +${megabytes.toFixed(0)} MB`)
  if (busy.githubCalls > bounds.githubCalls) problems.push(`${busy.githubCalls} calls of GitHub, more than ${bounds.githubCalls}`)
  if (busy.auditRows > bounds.auditRows) problems.push(`${busy.auditRows} audit rows, more than ${bounds.auditRows}`)
  const most = Math.max(0, ...busy.memoryMegabytes.values())
  const cost = `memory of a process at most +${most.toFixed(0)} MB, GitHub calls ${quiet.githubCalls} → ${busy.githubCalls}, audit rows ${quiet.auditRows} → ${busy.auditRows}`
  return { lines: [...lines, cost], problems }
}

function long(world: World, flood: Flood): Attempt {
  return {
    name: `${flood.name} for ${minute} s beside the bystander`,
    async run(): Promise<Verdict> {
      const quiet = await idleOf(world)
      if (quiet.failures.size > 0) return unclear(`acme does not work without a flood either: ${[...quiet.failures].join(', ')}`)
      const [sent, busy] = await play(world, flood, minute, () => useAsBystander(world, minute))
      const { lines, problems } = compare(
        quiet,
        busy,
        boundsOf(flood.causes ?? 'refusals', quiet, platformAddresses(world.targets, 8444).length),
      )
      const verdict = problems.length === 0 ? stopped('bound', sent) : succeeded(`${problems.join(', ')}; ${sent}`)
      return { ...verdict, measured: [sent, ...lines] }
    },
  }
}

function attack(flood: Flood, form: 'long' | 'flood'): Attack {
  return {
    name: form === 'flood' ? `floods/${flood.name}-for-a-minute` : `floods/${flood.name}`,
    as: flood.as,
    against: 'acme, which pushes, serves, signs in, asks for tokens, uses kubectl and makes Services',
    tries: flood.tries,
    expected: ['bound'],
    alone: true,
    form,
    attempts: world => [form === 'flood' ? long(world, flood) : short(world, flood)],
  }
}

export const floodAttacks: readonly Attack[] = [
  ...floods.map(flood => attack(flood, 'long')),
  ...floods.map(flood => attack(flood, 'flood')),
]
