// The thread of a pace (pace.ts): waits for each due time and posts its number. It does nothing else, so that it is never late.
import { parentPort, workerData } from 'node:worker_threads'
import type { PaceData, PaceMessage } from './pace.ts'

const { perSecond, count } = workerData as PaceData
const neverNotified = new Int32Array(new SharedArrayBuffer(4))
const started = performance.now()

function post(message: PaceMessage): void {
  parentPort?.postMessage(message)
}

post({ startedAt: performance.timeOrigin + started })
for (let number = 0; number < count; number++) {
  const early = started + (number * 1000) / perSecond - performance.now()
  // Unlike a timer, whose unit is a millisecond, this wait ends within some microseconds of its time.
  if (early > 0) Atomics.wait(neverNotified, 0, 0, early)
  post(number)
}
