// Bench `git-proxy`: clones of a repository through the git proxy, which encrypts, beside the same clones from the git server
// itself, which does not; one at a time and several at once. git writes what it gets, so that both sides do what a pod does.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toolEnvironment } from '../../../dev/cluster/settings.ts'
import type { Bench, BenchContext, Comparison, Figure, Measurement, OpenBench, Run } from '../harness/bench.ts'
import { figureAtMost, ratioAtLeast } from '../harness/goals.ts'
import { type MeasuredProgram, platformNodeOptions, startProgram } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'

const megabytes = 100
const together = 16
const mebibyte = 1024 * 1024

type World = {
  readonly folder: string
  readonly proxy: MeasuredProgram
  readonly direct: string
  readonly proxied: string
  readonly authority: string
  /** Resident memory before the first clone. */
  readonly restBytes: number
}

async function openWorld({ folder, note }: BenchContext, size: number): Promise<World & { readonly close: () => Promise<void> }> {
  const served = join(folder, 'served')
  await mkdir(served)
  note(`a repository of ${size} MB`)
  const file = (name: string): string => join(import.meta.dirname, name)
  const backend = await startProgram({
    ...{ name: 'git server', path: process.execPath },
    args: [file('backend-process.ts'), served, String(size)],
  })
  try {
    const { port } = await backend.call({})
    const authority = join(folder, 'authority.crt')
    const proxy = await startProgram({
      ...{ name: 'our git proxy', path: process.execPath },
      args: [...platformNodeOptions, '--expose-gc', file('proxy-process.ts'), String(port), authority],
    })
    const { port: proxyPort } = await proxy.call({})
    const { rssBytes: restBytes } = await proxy.usage()
    return {
      ...{ folder, proxy, authority, restBytes, direct: `http://127.0.0.1:${port}/acme/shop.git` },
      proxied: `https://bench:x@localhost:${proxyPort}/github.localhost/acme/shop.git`,
      async close() {
        await proxy.stop()
        await backend.stop()
      },
    }
  } catch (error) {
    await backend.stop()
    throw error
  }
}

async function clone({ folder, authority }: World, url: string, signal: AbortSignal): Promise<void> {
  const into = await mkdtemp(join(folder, 'clone-'))
  try {
    await new Promise<void>((resolve, reject) => {
      const environment = toolEnvironment({
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_SSL_CAINFO: authority,
        HOME: folder,
        GIT_TERMINAL_PROMPT: '0',
      })
      const git = spawn('git', ['clone', '--quiet', '--bare', url, into], { env: environment, stdio: 'ignore', signal })
      git.once('error', reject)
      git.once('close', code => (code === 0 ? resolve() : reject(new Error(`git clone ended with ${code}`))))
    })
  } finally {
    await rm(into, { recursive: true, force: true })
  }
}

async function clones(world: World, url: string, count: number, signal: AbortSignal): Promise<Run> {
  const started = performance.now()
  await Promise.all(Array.from({ length: count }, () => clone(world, url, signal)))
  return { operations: count, wallSeconds: (performance.now() - started) / 1000 }
}

function comparison(world: World, size: number): Comparison {
  return {
    name: 'one clone',
    title: `a repository of ${size} MB that cannot be compressed`,
    unit: 'clones',
    peerName: 'the same git server without the proxy and without TLS',
    ours: signal => clones(world, world.proxied, 1, signal),
    peer: signal => clones(world, world.direct, 1, signal),
    goals: [ratioAtLeast(figureNames.rate, 0.8)],
  }
}

const grownLabel = 'one clone: more memory of the proxy at its highest than before any'
const togetherLabel = `${together} at once: the same`

function memory(world: World, size: number): Measurement {
  return {
    name: 'memory',
    title: `clones of ${size} MB; the proxy has served none before the first comparison`,
    async run(signal): Promise<readonly Figure[]> {
      // The comparison before this cloned one at a time.
      const one = await world.proxy.usage()
      const run = await clones(world, world.proxied, together, signal)
      const all = await world.proxy.usage()
      return [
        { label: grownLabel, value: (one.peakRssBytes - world.restBytes) / mebibyte, unit: 'MiB' },
        { label: togetherLabel, value: (all.peakRssBytes - world.restBytes) / mebibyte, unit: 'MiB' },
        { label: `${together} clones at once`, value: run.wallSeconds, unit: 's' },
      ]
    },
    goals: [figureAtMost(grownLabel, 30)],
  }
}

export const gitProxy: Bench = {
  name: 'git-proxy',
  title: `clones of ${megabytes} MB through the git proxy, and what memory ${together} at once take`,
  budgetSeconds: 600,
  async open(context): Promise<OpenBench> {
    const size = Math.max(1, Math.round(megabytes * context.scale))
    const world = await openWorld(context, size)
    return { comparisons: [comparison(world, size)], measurements: [memory(world, size)], close: world.close }
  },
}
