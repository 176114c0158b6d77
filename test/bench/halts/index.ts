// Bench `halts`: from a Halt until the last of 1,000 live tokens of an installation is revoked, beside the same revocations by
// bare requests; until one token is; and until a workload is refused. On a platform in the production form with the GitHub
// emulator.
import type { Bench, BenchContext, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { figureAtMost, oursAtMost } from '../harness/goals.ts'
import { percentile } from '../harness/statistics.ts'
import { halted, lifted, type Target } from './halted.ts'
import { bareRevocations, fill, openWorld, type World } from './world.ts'

const tokens = 1000
const rounds = 20
const milliseconds = 1000

async function ofInstallation(world: World, count: number, signal: AbortSignal): Promise<Run> {
  await fill(world, count, signal)
  const { host, installationId: id } = world
  const { name, seconds, status } = await halted(world, { type: 'Installation', installation: { host, id } }, signal)
  if (status.tokens.revoked < count) throw new Error(`only ${status.tokens.revoked} of ${count} tokens were revoked`)
  await lifted(world, name, signal)
  return { operations: count, wallSeconds: seconds }
}

function comparison(world: World, count: number): Comparison {
  return {
    name: 'halt of an installation',
    title: `${count.toLocaleString('en-US')} live tokens: a Halt is made, and its status says that none is left`,
    unit: 'tokens',
    peerName: 'the same requests to GitHub, eight at a time, by a program that knows the tokens',
    ours: signal => ofInstallation(world, count, signal),
    async peer(signal) {
      const { revokeAll } = await bareRevocations(world, count, signal)
      const started = performance.now()
      await revokeAll()
      return { operations: count, wallSeconds: (performance.now() - started) / milliseconds }
    },
    goals: [oursAtMost('wall s', 15)],
  }
}

const oneLabel = 'from the Halt of a token to its revocation, p95'
const refusedLabel = 'from the Halt of a grant to the first refused request, p95'

function single(world: World, count: number): Measurement {
  return {
    name: 'halt of one token',
    title: `${count} tokens, one after the other`,
    async run(signal): Promise<readonly Figure[]> {
      const all: number[] = []
      for (let round = 0; round < count; round++) {
        const [id = ''] = await fill(world, 1, signal)
        const { name, seconds } = await halted(world, { type: 'Token', token: { id } }, signal)
        all.push(seconds)
        await lifted(world, name, signal)
      }
      return [
        { label: 'from the Halt of a token to its revocation, p50', value: percentile(all, 50), unit: 's' },
        { label: oneLabel, value: percentile(all, 95), unit: 's' },
      ]
    },
    goals: [figureAtMost(oneLabel, 2)],
  }
}

/** How long a workload that asks four times a second goes on getting tokens. */
function refused(world: World, count: number): Measurement {
  const target: Target = { type: 'Grant', grant: world.grant }
  return {
    name: 'next request',
    title: `${count} Halts of a grant while a pod asks for tokens under it`,
    async run(signal): Promise<readonly Figure[]> {
      const all: number[] = []
      for (let round = 0; round < count; round++) {
        await world.untilAnswered(200, signal)
        const started = performance.now()
        const standing = halted(world, target, signal)
        await world.untilAnswered(403, signal)
        all.push((performance.now() - started) / milliseconds)
        await lifted(world, (await standing).name, signal)
      }
      return [{ label: refusedLabel, value: percentile(all, 95), unit: 's' }]
    },
    goals: [figureAtMost(refusedLabel, 1)],
  }
}

export const halts: Bench = {
  name: 'halts',
  title: `a Halt and ${tokens.toLocaleString('en-US')} live tokens of an installation`,
  budgetSeconds: 1200,
  async open({ note, scale }: BenchContext): Promise<OpenBench> {
    const world = await openWorld(note)
    const sized = (count: number): number => Math.max(1, Math.round(count * scale))
    return {
      comparisons: [comparison(world, sized(tokens))],
      measurements: [single(world, sized(rounds)), refused(world, sized(rounds))],
      close: world.close,
    }
  },
}
