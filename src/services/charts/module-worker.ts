// The process in which one chart of a ConfigMap runs: loads cdk8s, says that it is ready, reads one request, gives up what the
// chart must not have, loads the chart, calls it, answers once and ends. chart-process.ts starts it under Node's permission
// model and takes the right to open files and sockets from it before it sends the request. What is done here is a second wall
// for the mistakes of the first.
import { readSync, writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import * as cdk8s from 'cdk8s'
import * as plus from 'cdk8s-plus-33'
import type { ChartFunction } from './built-in.ts'
import type { ModuleRequest } from './chart-input.ts'

/** The pipes to the parent: requests and answers. Standard output and standard error lead nowhere. */
const [requests, answers] = [0, 3]

function readRequest(): ModuleRequest {
  const pieces: Buffer[] = []
  for (;;) {
    const piece = Buffer.alloc(65_536)
    const length = readSync(requests, piece)
    if (length === 0) return JSON.parse(Buffer.concat(pieces).toString('utf8'))
    pieces.push(piece.subarray(0, length))
  }
}

function write(text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += writeSync(answers, bytes, written)
}

/**
 * A chart gets what it may use as arguments, and the language. `process` has `kill` and `setPriority`-like functions that
 * Node's permission model does not know; libraries read only `env`, `platform` and `cwd` of it.
 */
function giveUp(chartUrl: string): void {
  registerHooks({
    resolve(specifier) {
      if (specifier === chartUrl) return { url: chartUrl, format: 'module', shortCircuit: true }
      throw new Error(`a chart imports nothing, and this one imports ${specifier.slice(0, 100)}: use what it gets as arguments`)
    },
  })
  const harmless = Object.freeze({
    env: Object.freeze({}),
    platform: 'linux',
    argv: [],
    version: '',
    versions: {},
    cwd: () => '/',
  })
  const silent = Object.fromEntries(Object.keys(console).map(name => [name, () => {}]))
  for (const [name, value] of Object.entries({ process: harmless, console: silent }))
    Object.defineProperty(globalThis, name, { value, writable: false, configurable: false })
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'BroadcastChannel', 'require', 'module'])
    Reflect.deleteProperty(globalThis, name)
}

async function load(code: string): Promise<ChartFunction> {
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  giveUp(url)
  const module: Record<string, unknown> = await import(url)
  const exported = module['chart']
  if (typeof exported !== 'function') throw new Error('the module must export a function named chart')
  return (input, libraries) => exported(input, libraries)
}

async function answer({ code, input, maxAnswer }: ModuleRequest): Promise<string> {
  try {
    const chart = await load(code)
    const objects = input === 'check' ? [] : await chart(input, { cdk8s, plus })
    if (!Array.isArray(objects)) throw new Error('chart must return an array of Kubernetes objects')
    const json = JSON.stringify(objects)
    if (json.length > maxAnswer) throw new Error(`chart rendered more than ${maxAnswer} characters of JSON`)
    return `rendered ${json}`
  } catch (error) {
    const text = error instanceof Error ? error.message || error.name : String(error)
    return `failed ${JSON.stringify(text.split('\n', 1)[0]?.slice(0, 500) ?? 'the chart failed')}`
  }
}

const { exit } = process
write('ready\n')
const request = readRequest()
write(`${request.answerKey} ${await answer(request)}\n`)
exit(0)
