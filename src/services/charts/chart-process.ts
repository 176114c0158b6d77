// The process in which one chart of a ConfigMap runs: its start, the rights that it does not get, and its one answer. Three
// walls: Node's permission model (no file but the platform's own libraries, no child, thread, add-on or inspector), the kernel
// (after the start no file and no socket can be opened any more, and memory is bounded), and the worker itself (no import, no
// `process`). It never runs two charts.
// Source: https://nodejs.org/docs/latest-v24.x/api/permissions.html , man getrlimit(2)
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { ChartOutcome, ModuleRequest } from './chart-input.ts'
import { type ChartReports, type ChartRunner, createChartRunner } from './chart-runner.ts'
import { readRendered } from './rendered-json.ts'

export type ChartProcessOptions = {
  readonly heapMegabytes: number
  /** In UTF-16 units. */
  readonly maxAnswer: number
  /** For tests of the other walls: a worker that gives up nothing. */
  readonly program?: string
}

const megabyte = 1_048_576
const moduleWorker = fileURLToPath(new URL('./module-worker.ts', import.meta.url))
const project = join(dirname(moduleWorker), '..', '..', '..')
/** What a chart may take beside its heap: new objects, compiled code, buffers. */
const besideHeapMegabytes = 128
const maxMessage = 4096

/** Libraries are public code; no setting, Secret or data of the platform is below these paths. */
function readable(program: string): readonly string[] {
  const packages = join(project, 'node_modules')
  return [...new Set([program, join(project, 'package.json'), packages, realpathSync(packages)])]
}

function start({ heapMegabytes, program = moduleWorker }: ChartProcessOptions): ChildProcess {
  const allowed = readable(program).map(path => `--allow-fs-read=${path}${path.endsWith('node_modules') ? '/*' : ''}`)
  const limits = [`--max-old-space-size=${heapMegabytes}`, '--max-semi-space-size=16']
  const closed = ['--permission', '--disable-sigusr1', '--disallow-code-generation-from-strings', '--no-warnings']
  return spawn(process.execPath, [...closed, ...allowed, ...limits, program], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
  })
}

/**
 * What the process has reserved by now, used or not: V8 reserves more than it uses, and the kernel counts that. Rejects when it
 * has ended.
 */
async function privateBytes(pid: number): Promise<number> {
  const [, kilobytes] = /^VmData:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/**
 * From here on the kernel refuses every new file, socket and thread's descriptor: Node's permission model has no rule for the
 * network (24.x), and its rules for files have had holes. Resolves to false when the limits could not be set.
 */
async function takeDescriptors(pid: number, { heapMegabytes }: ChartProcessOptions): Promise<boolean> {
  const data = (await privateBytes(pid)) + (heapMegabytes + besideHeapMegabytes) * megabyte
  const words = [`--pid=${pid}`, '--nofile=0:0', '--fsize=0:0', '--core=0:0', `--data=${data}:${data}`]
  const limiter = spawn('prlimit', words, { stdio: 'ignore', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } })
  const code = await new Promise(resolve => limiter.once('error', () => resolve(-1)).once('exit', resolve))
  return code === 0
}

function endMessage(code: number | null, signal: NodeJS.Signals | null, heapMegabytes: number): string {
  // V8 ends a process without memory by abort, or by an illegal instruction where it cannot even report that.
  const outOfMemory = signal === 'SIGABRT' || signal === 'SIGTRAP' || signal === 'SIGILL' || code === 134
  return outOfMemory ? `the chart used more than ${heapMegabytes} MB of memory` : 'the chart ended its process'
}

function failed(message: string): ChartOutcome {
  return { kind: 'failed', message }
}

function readFailure(text: string): ChartOutcome {
  const message: unknown = JSON.parse(text.slice(0, maxMessage))
  return failed(typeof message === 'string' ? message.slice(0, 500) : 'the chart failed')
}

/** The one line that a process may answer with. The key keeps a chart from answering for the worker. */
function readAnswer(line: string, answerKey: string, maxAnswer: number): ChartOutcome {
  const [, kind, text = ''] = /^\S{1,64} (rendered|failed) (.*)$/s.exec(line) ?? []
  if (kind === undefined || !line.startsWith(`${answerKey} `)) return failed('the chart wrote to the pipe of its worker')
  try {
    return kind === 'rendered' ? readRendered(text, maxAnswer) : readFailure(text)
  } catch {
    return failed('the chart failed')
  }
}

type Answers = { readonly pipe: Readable; readonly answerKey: string; readonly maxAnswer: number }

/** `ready`, then one answer. More, or more than can be an answer, fails. */
function readAnswers({ pipe, answerKey, maxAnswer }: Answers, onReady: () => void, answered: ChartReports['answered']): void {
  /** In UTF-8 a UTF-16 unit takes three bytes at most. */
  const longest = maxAnswer * 3 + maxMessage
  let isReady = false
  let pieces: Buffer[] = []
  let length = 0
  pipe.on('data', (piece: Buffer) => {
    pieces.push(piece)
    length += piece.length
    if (length > longest) {
      pipe.destroy()
      return answered(failed(`chart rendered more than ${maxAnswer} characters of JSON`))
    }
    if (!piece.includes(0x0a)) return
    const [line = '', ...rest] = Buffer.concat(pieces).toString('utf8').split('\n')
    pieces = []
    length = 0
    if (!isReady && line === 'ready') {
      isReady = true
      return onReady()
    }
    pipe.destroy()
    answered(rest.join('') === '' ? readAnswer(line, answerKey, maxAnswer) : failed('the chart answered more than once'))
  })
  // The process may have ended while it wrote; its exit is what counts.
  pipe.on('error', () => {})
}

/** Starts a process. The first request waits until it is ready; that wait does not count towards the chart's timeout. */
export function startChartProcess(options: ChartProcessOptions): ChartRunner {
  const child = start(options)
  const answerKey = randomBytes(16).toString('hex')
  const pipe = child.stdio[3] as Readable
  return createChartRunner(({ ready, answered, ended }) => {
    const cage = async (): Promise<void> => {
      if (child.pid !== undefined && (await takeDescriptors(child.pid, options).catch(() => false))) return ready()
      child.kill('SIGKILL')
      ended('the chart was not started, because it could not be confined: is prlimit (util-linux) installed?')
    }
    readAnswers({ pipe, answerKey, maxAnswer: options.maxAnswer }, () => void cage(), answered)
    child.on('error', error => ended(`the process for charts cannot be started: ${error.message}`))
    child.on('exit', (code, signal) => ended(endMessage(code, signal, options.heapMegabytes)))
    child.stdin?.on('error', () => {})
    return {
      send({ chart, input, maxAnswer }) {
        if (chart.kind !== 'module') return answered(failed('only charts of ConfigMaps run in this process'))
        const request: ModuleRequest = { answerKey, code: chart.code, input, maxAnswer }
        child.stdin?.end(JSON.stringify(request))
      },
      async kill() {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      },
    }
  })
}
