// The worker thread that runs built-in charts: code of the platform, kept warm, so that a rendering costs milliseconds. A
// thread is not a boundary; charts of others run in a process (chart-process.ts).
import { Worker } from 'node:worker_threads'
import type { WorkerAnswer } from './chart-input.ts'
import { type ChartRunner, createChartRunner } from './chart-runner.ts'
import { readRendered } from './rendered-json.ts'

function endMessage(error: unknown, heapMegabytes: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `the chart used more than ${heapMegabytes} MB of memory`
  return error instanceof Error ? (error.message.split('\n', 1)[0] ?? error.name).slice(0, 500) : unexpectedExit
}

const unexpectedExit = 'the chart ended its thread'

/** Starts a thread. The first request waits until the thread is ready; that wait does not count towards the chart's timeout. */
export function startChartThread({ heapMegabytes, maxAnswer }: { heapMegabytes: number; maxAnswer: number }): ChartRunner {
  const worker = new Worker(new URL('./render-worker.ts', import.meta.url), {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 32 },
  })
  worker.stdout.resume()
  worker.stderr.resume()
  return createChartRunner(({ ready, answered, ended }) => {
    worker.on('message', (answer: WorkerAnswer) => {
      if (answer.kind === 'ready') ready()
      else if (answer.kind === 'rendered') answered(readRendered(answer.json, maxAnswer))
      else if (answer.kind === 'failed') answered({ kind: 'failed', message: answer.message })
      // Anything else is from Node.js: in watch mode threads report what they load.
    })
    worker.on('error', error => ended(endMessage(error, heapMegabytes)))
    worker.on('exit', () => ended(unexpectedExit))
    return {
      send: request => worker.postMessage(request),
      kill: async () => void (await worker.terminate()),
    }
  })
}
