// Serves one pod with the log of the bench over HTTP, as the API server and the kubelet do: lines with times, `sinceTime` in
// whole seconds, and connections that break after some megabytes when the bench asks for it. Logs are made once and sent from
// memory.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dispatchCommands } from '../harness/command-server.ts'
import { linesIn, secondOf, sentLine } from './log-text.ts'

type Served = {
  readonly parts: readonly Buffer[]
  /** Second → the index of the part that begins with it. */
  readonly seconds: ReadonlyMap<number, number>
}

const made = new Map<number, Served>()
let served: Served | undefined
let pod = { name: '', owner: '' }
let breakAfterBytes: number | undefined
let connections = 0

function make(lines: number): Served {
  const parts: Buffer[] = []
  const seconds = new Map<number, number>()
  let from = 0
  for (let index = 1; index <= lines; index++) {
    if (index < lines && secondOf(index) === secondOf(from)) continue
    seconds.set(secondOf(from), parts.length)
    parts.push(Buffer.from(Array.from({ length: index - from }, (_, line) => sentLine(from + line)).join('')))
    from = index
  }
  return { parts, seconds }
}

function podJson(): object {
  const { name, owner } = pod
  const metadata = { name, namespace: 'acme-build', uid: `pod-of-${owner}`, ownerReferences: [{ uid: owner }] }
  const containerStatuses = [{ name: 'build', state: { terminated: { exitCode: 0 } } }]
  return { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Succeeded', containerStatuses } }
}

/** From the first line of the second `since` on. */
function partsSince(since: string | null): readonly Buffer[] {
  const { parts = [], seconds } = served ?? {}
  return since === null ? parts : parts.slice(seconds?.get(Date.parse(since)) ?? 0)
}

async function sendLog(response: ServerResponse, since: string | null): Promise<void> {
  connections += 1
  response.writeHead(200, { 'content-type': 'text/plain' })
  let left = breakAfterBytes ?? Number.POSITIVE_INFINITY
  for (const part of partsSince(since)) {
    const piece = part.subarray(0, left)
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    if (response.destroyed) return
    left -= part.length
    if (left > 0) continue
    // What was written must arrive, and then nothing more.
    response.socket?.end()
    return
  }
  response.end()
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://here')
  if (!pathname.includes(`/pods/${pod.name}`)) return void response.writeHead(404).end('{}')
  if (pathname.endsWith('/log'))
    return void sendLog(response, searchParams.get('sinceTime')).catch((error: Error) => response.destroy(error))
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(podJson()))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

await dispatchCommands({
  /** Makes a log of about so many bytes, once; its lines and bytes. */
  async make({ bytes }) {
    const lines = linesIn(Number(bytes))
    const log = made.get(lines) ?? make(lines)
    made.set(lines, log)
    return { port, lines, bytes: log.parts.reduce((sum, part) => sum + part.length, 0) }
  },
  /** From now on the pod has this name and owner, and the log with so many lines. */
  async serve({ name, owner, lines, breakAfter }) {
    pod = { name: String(name), owner: String(owner) }
    served = made.get(Number(lines))
    breakAfterBytes = typeof breakAfter === 'number' ? breakAfter : undefined
    connections = 0
    return {}
  },
  connections: async () => ({ connections }),
})
process.exit(0)
