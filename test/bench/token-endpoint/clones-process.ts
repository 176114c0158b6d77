// What clones are to the git proxy, without git, whose own work would be in the way of what is measured: a server in the place of
// GitHub's that answers each fetch with bytes of a pack's size as fast as they are taken, and clients that ask through the proxy,
// throw away what they get, and ask again. Usage: megabytes of one clone
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { packetLine } from '../../../src/services/packet-lines.ts'
import { dispatchCommands } from '../harness/command-server.ts'
import { addressOf } from '../load/closed-loop.ts'

const megabytes = Number(process.argv[2] ?? '1')
const mebibyte = randomBytes(1024 * 1024)

function* pack(): Generator<Buffer> {
  for (let sent = 0; sent < megabytes; sent++) yield mebibyte
}

const server = createServer((asked, answer) => {
  asked.resume()
  answer.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' })
  // A client that was stopped breaks it off.
  pipeline(Readable.from(pack(), { objectMode: false }), answer).catch(() => undefined)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
const port = typeof address === 'object' ? address?.port : undefined

/** After the addresses of those who ask for tokens. */
const firstAddress = 10_000
const body = `${packetLine('command=fetch\n')}0000`

type Target = { readonly port: number; readonly authority: string; readonly bearers: readonly string[]; readonly grant: string }

async function clone(target: Target, number: number, signal: AbortSignal): Promise<void> {
  const bearer = target.bearers[number % target.bearers.length]
  const authorization = `Basic ${Buffer.from(`${target.grant}:${bearer}`).toString('base64')}`
  const type = { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const sent = request(
    {
      ...{ host: '127.0.0.1', servername: 'localhost', port: target.port, ca: target.authority, agent: false, signal },
      ...{ localAddress: addressOf(firstAddress + number), method: 'POST', headers: { authorization, ...type } },
      path: '/github.localhost/acme/shop.git/git-upload-pack',
    },
    answer => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => (bytes += piece.length))
      finished(answer).then(() => {
        if (answer.statusCode === 200 && bytes === megabytes * mebibyte.length) return resolve()
        reject(new Error(`a clone got ${bytes} bytes with the status ${answer.statusCode}`))
      }, reject)
    },
  )
  sent.once('error', reject)
  sent.end(body)
  return promise
}

let stopping = new AbortController()
let running: Promise<unknown> = Promise.resolve()
let done = 0
let problem: unknown

async function goOn(target: Target, number: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted)
    try {
      await clone(target, number, signal)
      done += 1
    } catch (error) {
      if (signal.aborted) return
      problem ??= error
      throw error
    }
}

await dispatchCommands({
  port: async () => ({ port }),
  /** Each of the grants has been used once when it answers, so that no token is made later. */
  async start(command) {
    const target = command as unknown as Target & { readonly count: number }
    for (const number of target.bearers.keys()) await clone(target, number, new AbortController().signal)
    done = 0
    stopping = new AbortController()
    running = Promise.allSettled(Array.from({ length: target.count }, (_, number) => goOn(target, number, stopping.signal)))
    return {}
  },
  async stop() {
    stopping.abort('stopped')
    await running
    if (problem !== undefined) throw problem
    return { done }
  },
})
process.exit(0)
