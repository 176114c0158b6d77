// Bench `authorizer`: our server with its decision compared with a minimal authorizer in Go (k8s.io/api), with the same
// reviews and the same certificate, over TLS on connections that stay open. As many as they answer (closed loop) by HTTP/1.1,
// which ours speaks, and against Go by HTTP/2, as an API server calls it; and 500 each second (open loop). Once more against
// the least that answers a review in Go. Beside it how long a right that was taken still counts.
import { join } from 'node:path'
import type { Bench, Comparison, OpenBench } from '../harness/bench.ts'
import { ensureGoPeer } from '../harness/go-peer.ts'
import { ratioAtLeast, ratioAtMost } from '../harness/goals.ts'
import { type ProgramOptions, platformNodeOptions } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { certificateFiles } from '../load/certificate-files.ts'
import { measureServer } from '../load/measure-server.ts'
import type { LoadPlan } from '../load/planned-request.ts'
import { plannedReviews } from './reviews.ts'
import { takenRight } from './taken-right.ts'

/** Number of concurrent requests, however they are distributed over connections. */
const concurrency = 32
/** An authorizer runs for days: what is compiled in the first seconds of ours is not measured. */
const warmUpRequests = 20_000
const seconds = 5
const perSecond = 500
const openLoopSeconds = 10

type Protocol = Pick<LoadPlan, 'protocol' | 'connections' | 'streams' | 'perSecond'>

const http1: Protocol = { protocol: 'http/1.1', connections: concurrency, streams: 1 }
const http2: Protocol = { protocol: 'h2', connections: 1, streams: concurrency }
const paced: Protocol = { ...http1, perSecond }

type Beside = { readonly program: ProgramOptions; readonly peerName: string }

export const authorizer: Bench = {
  name: 'authorizer',
  title: `SubjectAccessReviews of 0.5 to 2 KB over TLS, ${concurrency} under way`,
  budgetSeconds: 540,
  async open({ note, scale, folder }): Promise<OpenBench> {
    const path = await ensureGoPeer('webhooks-go', note, ['authorizer'])
    const barePath = await ensureGoPeer('webhooks-go', note, ['authorizer', 'bare'])
    const { authority, args } = await certificateFiles(folder)
    const own = join(import.meta.dirname, 'authorizer-process.ts')
    const ours: ProgramOptions = { name: 'our authorizer', path: process.execPath, args: [...platformNodeOptions, own, ...args] }
    const typed: Beside = {
      program: { name: 'Go authorizer', path, args },
      peerName: 'minimal authorizer in Go with the types of k8s.io/api and the same rules',
    }
    const bare: Beside = {
      program: { name: 'bare Go authorizer', path: barePath, args },
      peerName: 'Go’s standard library, which decodes the fields that its rules need: a lower bound',
    }
    const load = { authority, warmUpRequests: Math.max(100, Math.round(warmUpRequests * scale)), requests: plannedReviews() }
    const run = (server: ProgramOptions, how: Protocol) => (signal: AbortSignal) => {
      const lasting = how.perSecond === undefined ? seconds : openLoopSeconds
      return measureServer({ server, plan: { ...load, ...how }, seconds: lasting * scale }, signal)
    }
    type Compared = Pick<Comparison, 'name' | 'title' | 'goals'> & { readonly byPeer: Protocol; readonly byOurs: Protocol }
    const comparison = ({ byOurs, byPeer, ...named }: Compared, beside = typed): Comparison => ({
      ...named,
      unit: 'reviews',
      peerName: beside.peerName,
      ours: run(ours, byOurs),
      peer: run(beside.program, byPeer),
    })
    return {
      comparisons: [
        comparison({
          name: 'HTTP/1.1',
          title: 'both by HTTP/1.1',
          byOurs: http1,
          byPeer: http1,
          goals: [ratioAtLeast(figureNames.rate, 1)],
        }),
        comparison({
          name: 'as called',
          title: 'as an API server calls each: ours by HTTP/1.1, Go by HTTP/2 on one connection',
          byOurs: http1,
          byPeer: http2,
          goals: [ratioAtLeast(figureNames.rate, 1)],
        }),
        comparison({
          name: `${perSecond}/s`,
          title: `${perSecond} due each second, by HTTP/1.1`,
          byOurs: paced,
          byPeer: paced,
          goals: [ratioAtMost(figureNames.p99, 1)],
        }),
        comparison({ name: 'lower bound', title: 'both by HTTP/1.1', byOurs: http1, byPeer: http1, goals: [] }, bare),
      ],
      measurements: [takenRight(note, scale)],
      close: async () => {},
    }
  },
}
