// Answers one HTTP request with one `git upload-pack`: the read half of git's smart protocol. Nothing else of git is reachable.
// Source: https://git-scm.com/docs/http-protocol , https://git-scm.com/docs/git-upload-pack
import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { killGroup } from './git-command.ts'
import { gitEnvironment, limitedGit } from './git-environment.ts'

const timeoutMilliseconds = 120_000
/** Maximum size of a request body: the wants and haves of one commit, unpacked. */
const maxRequest = 1_048_576

/** `allowAnySHA1InWant`: builders request the commit by its id, which go-git does only with this capability. */
const configuration = [['uploadpack.allowAnySHA1InWant', 'true']] as const

/** pkt-line: four hex digits of length, themselves included. */
const advertisement = '001e# service=git-upload-pack\n0000'

async function* bounded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let total = 0
  for await (const chunk of source) {
    total += chunk.length
    if (total > maxRequest) throw new Error('the request is too long')
    yield chunk
  }
}

/** A client requests version 2 by a header; no other value is passed on. */
function protocolOf(request: IncomingMessage): Record<string, string> {
  return request.headers['git-protocol'] === 'version=2' ? { GIT_PROTOCOL: 'version=2' } : {}
}

/** Answers the request. Rejects when git failed or the client closed early; the caller then destroys the connection. */
export async function answerUploadPack(
  request: IncomingMessage,
  response: ServerResponse,
  folder: string,
  advertise: boolean,
): Promise<void> {
  const words = ['upload-pack', '--strict', '--stateless-rpc', '--timeout=60', ...(advertise ? ['--advertise-refs'] : []), folder]
  // It serves from the disk and writes nothing to it.
  const [program, limited] = limitedGit(words, 0)
  const child = spawn(program, limited, {
    env: { ...gitEnvironment(configuration), ...protocolOf(request) },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const timer = setTimeout(() => killGroup(child), timeoutMilliseconds)
  const started = new Promise<never>((_, reject) => child.once('error', reject))
  response.writeHead(200, {
    'content-type': advertise ? 'application/x-git-upload-pack-advertisement' : 'application/x-git-upload-pack-result',
    'cache-control': 'no-store',
  })
  const zipped = request.headers['content-encoding'] === 'gzip'
  const input = advertise
    ? Promise.resolve(child.stdin.end())
    : zipped
      ? pipeline(request, createGunzip(), bounded, child.stdin)
      : pipeline(request, bounded, child.stdin)
  // Version 2 has no service line (gitprotocol-http: "Smart Server Response" is version 0 and 1).
  if (advertise && !('GIT_PROTOCOL' in protocolOf(request))) response.write(advertisement)
  try {
    const served = Promise.all([
      // git closes its input as soon as it has read what it needs: that is not a failure.
      input.catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
      }),
      pipeline(child.stdout, response),
    ])
    await Promise.race([served, started])
  } finally {
    clearTimeout(timer)
    killGroup(child)
  }
}
