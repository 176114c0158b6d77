// Bench `admission`: our admission server with its full rule set compared with a minimal webhook on Go's standard library, over TLS with the same
// certificate and the same reviews. Once as the API server calls them (HTTP/2 where a webhook offers it, else HTTP/1.1: ours supports only
// HTTP/1.1), once with HTTP/1.1 for both.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'
import type { Bench, Comparison, OpenBench } from '../harness/bench.ts'
import { ensureGoPeer } from '../harness/go-peer.ts'
import { ratioAtLeast } from '../harness/goals.ts'
import type { ProgramOptions } from '../harness/program.ts'
import { figureNames } from '../harness/summarize.ts'
import { measureServer } from '../load/measure-server.ts'
import type { LoadPlan } from '../load/planned-request.ts'
import { plannedReviews } from './reviews.ts'

/** Number of concurrent requests, however they are distributed over connections. */
const concurrency = 32
const warmUpRequests = 4000
const seconds = 5

async function certificateFiles(folder: string) {
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'bench', now, lifetimeDays: 1 })
  const options = { authority, commonName: 'localhost', dnsNames: ['localhost'], usage: 'server', now, lifetimeDays: 1 } as const
  const leaf = await issueCertificate(options)
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(certificate, leaf.certificatePem)
  await writeFile(key, leaf.privateKeyPem.reveal(), { mode: 0o600 })
  return { authority: authority.certificatePem, args: [certificate, key] }
}

type Protocol = Pick<LoadPlan, 'protocol' | 'connections' | 'streams'>

const http1: Protocol = { protocol: 'http/1.1', connections: concurrency, streams: 1 }
const http2: Protocol = { protocol: 'h2', connections: 4, streams: concurrency / 4 }

export const admission: Bench = {
  name: 'admission',
  title: `AdmissionReviews of 1.5 to 7 KB over TLS, ${concurrency} under way`,
  budgetSeconds: 240,
  async open({ note, scale, folder }): Promise<OpenBench> {
    const path = await ensureGoPeer('admission-go', note)
    const { authority, args } = await certificateFiles(folder)
    const programs = {
      ours: {
        name: 'our webhook',
        path: process.execPath,
        args: [join(import.meta.dirname, 'review-server-process.ts'), ...args],
      },
      peer: { name: 'Go webhook', path, args },
    }
    const load = { authority, warmUpRequests: Math.max(100, Math.round(warmUpRequests * scale)), requests: plannedReviews() }
    const run = (server: ProgramOptions, protocol: Protocol) => (signal: AbortSignal) =>
      measureServer({ server, plan: { ...load, ...protocol }, seconds: seconds * scale }, signal)
    const comparison = (name: string, title: string, peerProtocol: Protocol): Comparison => ({
      name,
      title,
      unit: 'reviews',
      peerName: 'minimal webhook on Go’s standard library, with one rule',
      ours: run(programs.ours, http1),
      peer: run(programs.peer, peerProtocol),
      goals: [ratioAtLeast(figureNames.rate, 0.8)],
    })
    return {
      comparisons: [
        comparison('as called', 'as the API server calls them: ours by HTTP/1.1, the peer by HTTP/2', http2),
        comparison('HTTP/1.1', 'both by HTTP/1.1', http1),
      ],
      close: async () => {},
    }
  },
}
