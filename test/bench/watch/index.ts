// Bench `watch`: our reflector and cache compared with the informer of @kubernetes/client-node, both fed with the same bytes by
// the same server.
import { join } from 'node:path'
import { AppError } from '../../../src/lib/errors.ts'
import type { Bench, OpenBench, Run } from '../harness/bench.ts'
import { oursAtMost, ratioAtLeast, ratioAtMost } from '../harness/goals.ts'
import { pinning } from '../harness/machine.ts'
import { type MeasuredProgram, startProgram } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'

const listed = 10_000
const sent = 50_000
const heapPerThousand = 'heap MB per 1,000 objects'
const listSeconds = 'first list of all objects, s'

type Load = { readonly replay: MeasuredProgram; readonly server: string; readonly objects: number; readonly events: number }

async function measure(file: string, load: Load, processor: number | undefined, signal: AbortSignal): Promise<Run> {
  const { replay, server, objects, events } = load
  const program = await startProgram(
    {
      name: file,
      path: process.execPath,
      args: ['--expose-gc', join(import.meta.dirname, file)],
      ...(processor === undefined ? {} : { processor }),
    },
    signal,
  )
  try {
    const heap = async (): Promise<number> => Number((await program.call({ do: 'memory' }, signal))['heapBytes'])
    const empty = await heap()
    const started = performance.now()
    const list = await program.call({ do: 'list', server }, signal)
    const listing = (performance.now() - started) / 1000
    if (list['objects'] !== objects) throw new AppError('internal', `${file} holds ${list['objects']} of ${objects} objects`)
    const full = await heap()
    const before = await program.usage()
    const following = program.call({ do: 'follow', events }, signal)
    const begun = performance.now()
    await Promise.all([replay.call({ do: 'send' }, signal), following])
    const wallSeconds = (performance.now() - begun) / 1000
    const after = await program.usage()
    return {
      operations: events,
      wallSeconds,
      cpuSeconds: after.cpuSeconds - before.cpuSeconds,
      rssBytes: after.peakRssBytes,
      figures: { [heapPerThousand]: (full - empty) / 1000 / objects, [listSeconds]: listing },
    }
  } finally {
    await program.stop()
  }
}

export const watch: Bench = {
  name: 'watch',
  title: `${sent.toLocaleString('en-US')} watch events into a cache of ${listed.toLocaleString('en-US')} objects`,
  budgetSeconds: 180,
  async open({ scale, note }): Promise<OpenBench> {
    const { generator, measured } = await pinning()
    const replay = await startProgram({
      name: 'replay server',
      path: process.execPath,
      args: [join(import.meta.dirname, 'replay-process.ts')],
      ...(generator === undefined ? {} : { processor: generator }),
    })
    try {
      const objects = Math.max(100, Math.round(listed * scale))
      const events = Math.max(500, Math.round(sent * scale))
      const { port, bytes } = await replay.call({ do: 'prepare', objects, events })
      note(`replaying ${(Number(bytes) / 1_000_000).toFixed(0)} MB of events`)
      const load: Load = { replay, server: `http://127.0.0.1:${port}`, objects, events }
      return {
        comparisons: [
          {
            name: 'events',
            title: `events per second through watch, store and listener, Applications of ${Math.round(Number(bytes) / events)} bytes`,
            unit: 'events',
            peerName: 'informer of @kubernetes/client-node',
            ours: signal => measure('our-process.ts', load, measured, signal),
            peer: signal => measure('peer-process.ts', load, measured, signal),
            goals: [ratioAtLeast(figureNames.rate, 1), ratioAtMost(heapPerThousand, 1), oursAtMost(heapPerThousand, 2)],
          },
        ],
        close: replay.stop,
      }
    } catch (error) {
      await replay.stop()
      throw error
    }
  },
}
