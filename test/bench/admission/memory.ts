// What the process of the webhook occupies after thousands of reviews, and how much of it an empty Node.js process does.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reservePort } from '../../../src/lib/testing/reserved-port.ts'
import type { Measurement } from '../harness/bench.ts'
import { figureAtMost } from '../harness/goals.ts'
import { usageOf } from '../harness/process-usage.ts'
import { platformNodeOptions } from '../harness/program.ts'
import { openClosedLoop } from '../load/closed-loop.ts'
import { plannedReviews } from './reviews.ts'

const reviews = 5000
const label = `RSS after ${reviews.toLocaleString('en-US')} reviews`
const readyMilliseconds = 30_000

type Options = {
  readonly authority: string
  readonly certificate: readonly [certificatePath: string, keyPath: string]
  readonly scale: number
}

export function processMemory({ authority, certificate, scale }: Options): Measurement {
  return {
    name: 'memory',
    title: 'src/admission/main.ts as the platform runs it',
    async run(signal) {
      const [port, healthPort] = [await reservePort(), await reservePort()]
      const [certificatePath, keyPath] = certificate
      const environment = {
        PATH: process.env['PATH'],
        SEKISHO_ADMISSION_ADDRESS: '127.0.0.1',
        SEKISHO_ADMISSION_PORT: String(port),
        SEKISHO_ADMISSION_CERTIFICATE_PATH: certificatePath,
        SEKISHO_ADMISSION_KEY_PATH: keyPath,
        SEKISHO_HEALTH_ADDRESS: '127.0.0.1',
        SEKISHO_HEALTH_PORT: String(healthPort),
        SEKISHO_LOG_LEVEL: 'error',
      }
      const webhook = start([...platformNodeOptions, join(import.meta.dirname, '../../../src/admission/main.ts')], environment)
      const empty = start(['--eval', 'setInterval(() => {}, 1000)'], { PATH: process.env['PATH'] })
      try {
        await ready(`http://127.0.0.1:${healthPort}/readyz`, webhook, signal)
        const before = await rssMegabytes(webhook)
        const loop = await openClosedLoop({
          port,
          authority,
          protocol: 'http/1.1',
          connections: 16,
          streams: 1,
          warmUpRequests: Math.round(reviews * scale),
          requests: plannedReviews(),
        })
        const failures = await loop.warmUp()
        if (failures > 0) throw new Error(`the webhook gave ${failures} answers that were not the expected ones`)
        const after = await rssMegabytes(webhook)
        loop.close()
        return [
          { label, value: after, unit: 'MB' },
          { label: 'RSS before the first review', value: before, unit: 'MB' },
          { label: 'RSS of an empty Node.js process', value: await rssMegabytes(empty), unit: 'MB' },
        ]
      } finally {
        webhook.kill('SIGKILL')
        empty.kill('SIGKILL')
      }
    },
    goals: [figureAtMost(label, 200)],
  }
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function ready(url: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  for (const until = Date.now() + readyMilliseconds; Date.now() < until; ) {
    signal.throwIfAborted()
    if (child.exitCode !== null) throw new Error(`the webhook ended with ${child.exitCode}`)
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    if (answer?.ok) return
    await sleep(50)
  }
  throw new Error('the webhook did not become ready')
}

async function rssMegabytes({ pid }: ChildProcess): Promise<number> {
  if (pid === undefined) throw new Error('a process was not started')
  return (await usageOf(pid)).rssBytes / 1e6
}
