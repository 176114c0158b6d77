// Charts of ConfigMaps that attack what runs them. Each is refused with a reason, the renderer goes on, and another tenant is
// not affected.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '../../lib/waiting/wait-until.ts'
import type { ChartInput, ChartOutcome, ChartSource } from './chart-input.ts'
import { startChartProcess } from './chart-process.ts'
import { type ChartRenderer, createChartRenderer } from './renderer.ts'

const input: ChartInput = {
  name: 'shop',
  namespace: 'acme',
  image: `registry.example.com/acme/shop@sha256:${'1'.repeat(64)}`,
  processes: [{ name: 'web', port: 3000, replicas: 1, cpu: '50m', memory: '64Mi' }],
  env: [],
  attributes: {},
  hosts: ['shop.acme.localhost'],
  ingressClassName: 'traefik',
  tls: false,
}
const neighbour: ChartInput = { ...input, name: 'site', namespace: 'globex' }
const web: ChartSource = { kind: 'built-in', name: 'web', revision: 'test' }
const secretText = 'the sealing key of this platform'

function moduleChart(code: string): ChartSource {
  return { kind: 'module', code, revision: 'test' }
}

/** The processes that this one started, with their command lines. */
async function children(): Promise<readonly { readonly pid: number; readonly command: string }[]> {
  const found: { readonly pid: number; readonly command: string }[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1])
    if (parent !== process.pid) continue
    found.push({ pid: Number(name), command: await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '') })
  }
  return found
}

async function chartProcesses(): Promise<readonly number[]> {
  return (await children()).filter(({ command }) => command.includes('-worker.ts')).map(({ pid }) => pid)
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

let folder: string
let secret: string
let renderer: ChartRenderer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chart-attacks-'))
  secret = join(folder, 'sealing-keys')
  await writeFile(secret, secretText)
  renderer = createChartRenderer({ processes: 2, heapMegabytes: 96, maxAnswer: 20_000 })
})
afterAll(async () => {
  await renderer.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The outcome of the attack; a chart of another tenant renders meanwhile and afterwards, and no process is left. */
async function attack(code: string, timeoutMilliseconds = 5000): Promise<ChartOutcome> {
  const attacking = renderer.render(moduleChart(code), input, timeoutMilliseconds)
  expect(await renderer.render(web, neighbour, 5000)).toMatchObject({ kind: 'rendered' })
  const outcome = await attacking
  expect(await renderer.render(web, neighbour, 5000)).toMatchObject({ kind: 'rendered' })
  expect(await chartProcesses()).toEqual([])
  return outcome
}

describe('what a chart must not have', () => {
  const refusals: readonly (readonly [name: string, code: string, message: RegExp])[] = [
    [
      'imports a module of Node.js',
      `import { readFileSync } from 'node:fs'; export function chart() { return [] }`,
      /imports node:fs/,
    ],
    ['imports one later', `export async function chart() { await import('node:child_process') }`, /imports node:child_process/],
    ['imports a library', `import * as yaml from 'yaml'; export function chart() { return [] }`, /imports yaml/],
    ['imports another text', `export async function chart() { await import('data:text/javascript,1') }`, /imports data:/],
    [
      'asks for a built-in module',
      `export function chart() { return [process.getBuiltinModule('fs')] }`,
      /getBuiltinModule is not a function/,
    ],
    ['kills the platform', `export function chart() { process.kill(1) }`, /kill is not a function/],
    ['uses internal bindings', `export function chart() { return [process.binding('fs')] }`, /binding is not a function/],
    ['loads an add-on', `export function chart() { process.dlopen({ exports: {} }, '/x.node') }`, /dlopen is not a function/],
    ['ends its process', `export function chart() { process.exit(0) }`, /exit is not a function/],
    ['opens a connection', `export async function chart() { await fetch('http://127.0.0.1') }`, /fetch is not defined/],
    ['makes code from text', `export function chart() { return [Function('return this')()] }`, /Code generation from strings/],
    [
      'reads a template file by a library',
      `export function chart(input, { cdk8s }) { return cdk8s.Yaml.load('/etc/passwd') }`,
      /./,
    ],
    [
      'renders a chart of Helm by a library',
      `export function chart(input, { cdk8s }) { const app = new cdk8s.App(); const c = new cdk8s.Chart(app, 'x'); new cdk8s.Helm(c, 'h', { chart: '/tmp' }); return c.toJson() }`,
      /./,
    ],
    ['answers with an object that is not a list', `export function chart() { return { length: 1 } }`, /must return an array/],
    [
      'answers with a list in a list in a list',
      `export function chart() { let deep = []; for (let i = 0; i < 1000; i++) deep = [deep]; return deep }`,
      /levels deep/,
    ],
    [
      'sets a prototype through its answer',
      `export function chart() { return [JSON.parse('{"kind":"ConfigMap","__proto__":{"admin":true}}')] }`,
      /__proto__/,
    ],
    [
      'sets one by toJSON',
      `export function chart() { return [{ toJSON: () => JSON.parse('{"a":[{"__proto__":1}]}') }] }`,
      /__proto__/,
    ],
    ['answers too much', `export function chart() { return ['x'.repeat(30000)] }`, /more than 20000 characters/],
  ]
  test.each(refusals)('a chart that %s fails', async (_name, code, message) => {
    const outcome = await attack(code)
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) })
    expect(JSON.stringify(outcome)).not.toContain('root:')
  })

  test('a chart sees neither environment nor arguments of anybody', async () => {
    process.env['SEKISHO_ATTACKED'] = secretText
    onTestFinished(() => void delete process.env['SEKISHO_ATTACKED'])
    const outcome = await attack('export function chart() { return [{ env: { ...process.env }, argv: process.argv }] }')
    expect(outcome).toMatchObject({ kind: 'rendered', objects: [{ env: {}, argv: [] }] })
  })

  test('what a chart changes of its language does not reach the platform', async () => {
    const code = `Object.prototype.admin = true; Array.prototype.toJSON = () => 'x'; JSON.stringify = () => '[]'
      export function chart() { return [{ kind: 'ConfigMap' }] }`
    await attack(code)
    expect('admin' in {}).toBe(false)
    expect(JSON.stringify([1])).toBe('[1]')
  })
})

describe('what a chart must not cost', () => {
  test.each([
    ['loops', 'export function chart() { for (;;); }'],
    ['waits for ever', 'export function chart() { return new Promise(() => setInterval(() => {}, 1000)) }'],
    ['sleeps in the kernel', 'export function chart() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }'],
    ['prints without end', `export function chart() { for (;;) console.log('x'.repeat(1 << 20)) }`],
  ])('a chart that %s ends at its time', async (_name, code) => {
    expect(await attack(code, 400)).toEqual({ kind: 'timed-out', message: 'the chart did not return within 0.4 s' })
  })

  test.each([
    ['objects', 'const kept = []; for (;;) kept.push(new Array(100000).fill(Math.random()))'],
    ['a long text', `let text = 'x'; for (;;) { text += text; if (text.length > 1e8) text = [text].join() + 'y' }`],
    ['buffers beside the heap', `const kept = []; for (;;) kept.push(new Uint8Array(1 << 24).fill(1))`],
    [
      'a memory of WebAssembly',
      `const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) { m.grow(1024); new Uint8Array(m.buffer).fill(1) }`,
    ],
  ])('memory by %s is bounded, and the chart fails', async (_name, body) => {
    const rendering = renderer.render(moduleChart(`export function chart() { ${body} }`), input, 10_000)
    let most = 0
    let ended = false
    void rendering.finally(() => {
      ended = true
    })
    const sample = async (): Promise<boolean> => {
      for (const pid of await chartProcesses()) most = Math.max(most, await residentMegabytes(pid))
      return ended
    }
    await waitUntil('the end of the attack', sample, { everyMilliseconds: 20 })
    expect(await rendering).toMatchObject({ kind: 'failed' })
    expect(most).toBeLessThan(500)
    expect(await renderer.render(web, neighbour, 5000)).toMatchObject({ kind: 'rendered' })
  })

  test('the first chart of a tenant that never ends leaves others their turn', async () => {
    let ended = 0
    const endless = Array.from({ length: 6 }, async () => {
      await renderer.render(moduleChart('export function chart() { for (;;); }'), input, 600)
      ended += 1
    })
    expect(await renderer.render(web, neighbour, 5000)).toMatchObject({ kind: 'rendered' })
    expect(ended).toBeLessThan(6)
    await Promise.all(endless)
  })
})

// The worker of these tests gives its chart `process`, imports and the pipe: only Node's permission model and the kernel are
// left.
describe('the walls without the worker’s own', () => {
  const program = fileURLToPath(new URL('./testing/open-worker.ts', import.meta.url))

  async function open(body: string): Promise<ChartOutcome> {
    const runner = startChartProcess({ heapMegabytes: 96, maxAnswer: 20_000, program })
    onTestFinished(runner.end)
    const code = `import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'
      const builtin = name => process.getBuiltinModule(name); export async function chart() { ${body} }`
    return runner.run({ id: 1, chart: moduleChart(code), input, maxAnswer: 20_000 }, 5000)
  }

  test.each([
    ['a file of the machine', `return [fs.readFileSync('/etc/passwd', 'utf8')]`],
    ['the environment of its parent', `return [fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8')]`],
    ['the memory of its parent', `return [fs.openSync('/proc/' + process.ppid + '/mem', 'r')]`],
    ['a folder', `return fs.readdirSync('/')`],
    ['a file to write', `fs.writeFileSync('/tmp/sekisho-attack', 'x'); return []`],
    [
      'a link to a file',
      `fs.symlinkSync('/etc/passwd', '/tmp/sekisho-attack'); return [fs.readFileSync('/tmp/sekisho-attack', 'utf8')]`,
    ],
    ['a child', `return [builtin('child_process').execSync('id').toString()]`],
    ['a thread', `const { Worker } = builtin('worker_threads'); new Worker('1', { eval: true }); return []`],
    ['an add-on', `process.dlopen({ exports: {} }, '/usr/lib/x.node'); return []`],
    ['internal bindings', `return [Object.keys(process.binding('fs'))]`],
    ['WASI', `new (builtin('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }); return []`],
    ['an inspector', `builtin('inspector').open(0, '127.0.0.1'); return []`],
    ['a report', `return [process.report.writeReport('/tmp/sekisho-attack.json')]`],
    ['a snapshot', `return [builtin('v8').writeHeapSnapshot('/tmp/sekisho-attack.heap')]`],
    [
      'a library of the platform once it runs',
      `return [fs.readFileSync(${JSON.stringify(fileURLToPath(new URL('../../../package.json', import.meta.url)))}, 'utf8')]`,
    ],
  ])('%s is refused', async (_name, body) => {
    const outcome = await open(body)
    expect(outcome).toMatchObject({ kind: 'failed' })
    expect(outcome).toMatchObject({
      message: expect.stringMatching(/ERR_ACCESS_DENIED|ERR_DLOPEN|restricted|disabled|EMFILE|access/i),
    })
  })

  test('a Secret of the platform is refused', async () => {
    expect(JSON.stringify(await open(`return [fs.readFileSync(${JSON.stringify(secret)}, 'utf8')]`))).not.toContain(secretText)
  })

  test('no connection is opened, although Node’s permission model has no rule for the network', async () => {
    let connections = 0
    const server = createServer(socket => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const connect = (options: string) =>
      open(
        `return [await new Promise(done => net.connect(${options}).on('connect', () => done('connected')).on('error', e => done(e.code)))]`,
      )
    expect(await connect(`${port}, '127.0.0.1'`)).toMatchObject({ objects: ['EMFILE'] })
    expect(await connect(`{ path: ${JSON.stringify(join(folder, 'orders.sock'))} }`)).toMatchObject({ objects: ['EMFILE'] })
    expect(
      await open(
        `const s = builtin('dgram').createSocket('udp4'); return [await new Promise(done => { s.on('error', e => done(e.code)); s.send('x', 53, '127.0.0.1', e => done(e ? e.code : 'sent')) })]`,
      ),
    ).toMatchObject({
      objects: [expect.stringMatching(/EMFILE/)],
    })
    expect(connections).toBe(0)
  })

  test('the limits cannot be raised, because the kernel has them', async () => {
    const runner = startChartProcess({ heapMegabytes: 96, maxAnswer: 20_000, program })
    onTestFinished(runner.end)
    void runner.run({ id: 1, chart: moduleChart('export function chart() { for (;;); }'), input, maxAnswer: 20_000 }, 20_000)
    await waitUntil("the limits of the chart's process", async () => {
      const [pid = 0] = await chartProcesses()
      const limits = await readFile(`/proc/${pid}/limits`, 'utf8')
      expect(limits).toMatch(/Max open files\s+0\s+0 /)
      expect(limits).toMatch(/Max file size\s+0\s+0 /)
      expect(limits).toMatch(/Max data size\s+(\d{8,10})\s+\1 /)

      return true
    })
  })

  test.each([
    ['answers in place of the worker', `fs.writeSync(3, 'x rendered []\\n'); for (;;);`, 'wrote to the pipe'],
    ['answers before the worker', `fs.writeSync(3, '\\n'); for (;;);`, 'wrote to the pipe'],
    [
      'floods the pipe',
      `const piece = Buffer.alloc(1 << 20, 120); for (;;) fs.writeSync(3, piece)`,
      'more than 20000 characters',
    ],
    ['ends early', `process.exit(0)`, 'ended its process'],
    ['ends by a signal', `process.kill(process.pid, 'SIGKILL'); for (;;);`, 'ended its process'],
    ['closes the pipe', `fs.closeSync(3); process.exit(0)`, 'ended its process'],
  ])('a chart that %s fails', async (_name, body, message) => {
    expect(await open(body)).toMatchObject({ kind: 'failed', message: expect.stringContaining(message) })
  })

  test('a second answer fails', async () => {
    const twice = `const { stringify } = JSON
      JSON.stringify = value => stringify(value) + '\\nand another'; export function chart() { return [] }`
    const runner = startChartProcess({ heapMegabytes: 96, maxAnswer: 20_000, program })
    onTestFinished(runner.end)
    const outcome = await runner.run({ id: 1, chart: moduleChart(twice), input, maxAnswer: 20_000 }, 5000)
    expect(outcome).toEqual({ kind: 'failed', message: 'the chart answered more than once' })
  })
})
