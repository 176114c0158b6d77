// Bench `admission`: our server with its full rule set compared with a minimal webhook in Go (k8s.io/api), with the same
// reviews and the same certificate, over TLS and HTTP/1.1, as API servers call the webhook of a Service
// (kubernetes/kubernetes#75791). As many reviews as they answer (closed loop), and 500 each second (open loop). Once more
// against Go by HTTP/2, and against the least that answers a review in Go, which decodes no object but Secrets. Beside it the
// memory of src/admission/main.ts.
import { join } from 'node:path'
import type { Bench, Comparison, OpenBench } from '../harness/bench.ts'
import { ensureGoPeer } from '../harness/go-peer.ts'
import { ratioAtLeast, ratioAtMost } from '../harness/goals.ts'
import { type ProgramOptions, platformNodeOptions } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { certificateFiles } from '../load/certificate-files.ts'
import { measureServer } from '../load/measure-server.ts'
import type { LoadPlan } from '../load/planned-request.ts'
import { processMemory } from './memory.ts'
import { plannedReviews } from './reviews.ts'

/** Number of concurrent requests, however they are distributed over connections. */
const concurrency = 32
/** A webhook runs for days: what is compiled in the first seconds of ours is not measured. */
const warmUpRequests = 20_000
const seconds = 5
const perSecond = 500
const openLoopSeconds = 10

type Protocol = Pick<LoadPlan, 'protocol' | 'connections' | 'streams' | 'perSecond'>

const http1: Protocol = { protocol: 'http/1.1', connections: concurrency, streams: 1 }
const http2: Protocol = { protocol: 'h2', connections: 4, streams: concurrency / 4 }

export const admission: Bench = {
  name: 'admission',
  title: `AdmissionReviews of 1.5 to 7 KB over TLS, ${concurrency} under way`,
  budgetSeconds: 540,
  async open({ note, scale, folder }): Promise<OpenBench> {
    const path = await ensureGoPeer('webhooks-go', note, ['admission'])
    const barePath = await ensureGoPeer('webhooks-go', note, ['admission', 'bare'])
    const { authority, args } = await certificateFiles(folder)
    const programs = {
      ours: {
        name: 'our webhook',
        path: process.execPath,
        args: [...platformNodeOptions, join(import.meta.dirname, 'review-server-process.ts'), ...args],
      },
      peer: { name: 'Go webhook', path, args },
      bare: { name: 'bare Go webhook', path: barePath, args },
    }
    const typed = {
      program: programs.peer,
      peerName: 'minimal webhook in Go with the types of k8s.io/api, one rule for each kind',
    }
    const bare = { program: programs.bare, peerName: 'Go’s standard library, which decodes no object but Secrets: a lower bound' }
    const load = { authority, warmUpRequests: Math.max(100, Math.round(warmUpRequests * scale)), requests: plannedReviews() }
    const run = (server: ProgramOptions, how: Protocol) => (signal: AbortSignal) => {
      const lasting = how.perSecond === undefined ? seconds : openLoopSeconds
      return measureServer({ server, plan: { ...load, ...how }, seconds: lasting * scale }, signal)
    }
    type Compared = Pick<Comparison, 'name' | 'title' | 'goals'> & { readonly ours: Protocol; readonly peer: Protocol }
    const comparison = ({ ours, peer, ...named }: Compared, beside = typed): Comparison => ({
      ...named,
      unit: 'reviews',
      peerName: beside.peerName,
      ours: run(programs.ours, ours),
      peer: run(beside.program, peer),
    })
    const paced: Protocol = { ...http1, perSecond }
    return {
      comparisons: [
        comparison({
          name: 'as called',
          title: 'as the API server calls the webhook of a Service: by HTTP/1.1',
          ours: http1,
          peer: http1,
          goals: [ratioAtLeast(figureNames.rate, 0.95)],
        }),
        comparison({
          name: `${perSecond}/s`,
          title: `${perSecond} due each second, by HTTP/1.1`,
          ours: paced,
          peer: paced,
          goals: [ratioAtMost(figureNames.p99, 1)],
        }),
        comparison({ name: 'lower bound', title: 'as called, by HTTP/1.1', ours: http1, peer: http1, goals: [] }, bare),
        comparison({
          name: 'HTTP/2',
          title: 'ours by HTTP/1.1, Go by HTTP/2',
          ours: http1,
          peer: http2,
          goals: [ratioAtLeast(figureNames.rate, 0.95)],
        }),
      ],
      measurements: [processMemory({ authority, certificate: args, scale })],
      close: async () => {},
    }
  },
}
