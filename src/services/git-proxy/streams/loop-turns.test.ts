// How much passes in one turn of the event loop, and in which order.
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { settle } from '../../../lib/testing/fake-clock.ts'
import { bytesOfAdmission, createLoopTurns } from './loop-turns.ts'

const kibibyte = 1024

/** Turns that pass when the test says so. */
function byHand() {
  const scheduled: (() => void)[] = []
  const passed: string[] = []
  const turns = createLoopTurns({ isDeskBusy: () => false, schedule: work => void scheduled.push(work) })
  return {
    turns,
    passed,
    pending: () => scheduled.length,
    add: (name: string, bytes = 64 * kibibyte) => void turns.pass(bytes).then(() => passed.push(name)),
    async turn() {
      const work = scheduled.shift()
      if (work === undefined) throw new Error('no turn is scheduled')
      work()
      await settle()
    },
  }
}

test('two pieces of 64 KiB pass in a turn, the first ones at once, in the order in which they came', async () => {
  const { add, turn, passed, pending } = byHand()
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name)
  await settle()
  expect(passed).toEqual(['a', 'b'])
  await turn()
  expect(passed).toEqual(['a', 'b', 'c', 'd'])
  await turn()
  expect(passed).toEqual(['a', 'b', 'c', 'd', 'e'])
  // Afterwards nothing goes on, and the next piece does not wait.
  await turn()
  expect(pending()).toBe(0)
  add('later')
  await settle()
  expect(passed.at(-1)).toBe('later')
})

test('a transfer that goes on at once waits behind those that waited', async () => {
  const { add, turn, passed } = byHand()
  for (const name of ['a', 'b', 'c', 'd', 'e']) add(name)
  await turn()
  add('a again')
  await turn()
  expect(passed).toEqual(['a', 'b', 'c', 'd', 'e', 'a again'])
})

test('small pieces share a turn, and one that is larger than a turn takes the next ones too', async () => {
  const { add, turn, passed } = byHand()
  for (let at = 0; at < 9; at++) add(`small ${at}`, 16 * kibibyte)
  add('large', 1024 * kibibyte)
  add('last')
  await settle()
  expect(passed).toHaveLength(8)
  await turn()
  expect(passed.slice(8)).toEqual(['small 8', 'large'])
  // Eight turns for it, less the room that the small one left.
  for (let at = 0; at < 7; at++) {
    expect(passed.at(-1)).toBe('large')
    await turn()
  }
  await turn()
  expect(passed.at(-1)).toBe('last')
})

test('while workloads wait for tokens there is a pause before each turn, and none any more when they have them', async () => {
  const next: (() => void)[] = []
  const paused: (() => void)[] = []
  let isBusy = true
  const turns = createLoopTurns({
    isDeskBusy: () => isBusy,
    schedule: work => void next.push(work),
    pause: work => void paused.push(work),
  })
  void turns.pass(512 * kibibyte)
  paused.shift()?.()
  expect([paused.length, next.length]).toEqual([1, 0])
  isBusy = false
  paused.shift()?.()
  expect([paused.length, next.length]).toEqual([0, 1])
})

test('a request to begin takes three turns, between the pieces of transfers', async () => {
  const { add, turn, passed } = byHand()
  add('a', 128 * kibibyte)
  add('begin', bytesOfAdmission)
  add('b')
  await turn()
  expect(passed).toEqual(['a', 'begin'])
  await turn()
  await turn()
  expect(passed).toEqual(['a', 'begin'])
  await turn()
  expect(passed).toEqual(['a', 'begin', 'b'])
})

test('by itself the event loop turns between', async () => {
  const turns = createLoopTurns({ isDeskBusy: () => false })
  const order: string[] = []
  const pieces = Promise.all(Array.from({ length: 50 }, () => turns.pass(64 * kibibyte))).then(() => order.push('fifty pieces'))
  const { promise: request, resolve } = Promise.withResolvers<void>()
  setImmediate(() => setImmediate(resolve))
  await Promise.all([pieces, request.then(() => order.push('a request'))])
  expect(order).toEqual(['a request', 'fifty pieces'])
})

test('a transfer that is aborted while it waits gives its turn back, and the others end', async () => {
  const { turns, turn, pending } = byHand()
  const piece = Buffer.alloc(64 * kibibyte)
  const transfer = (signal: AbortSignal = new AbortController().signal) => {
    let bytes = 0
    const gate = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        void turns.pass(chunk.length).then(() => done(null, chunk))
      },
    })
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length
        done()
      },
    })
    const source = Readable.from([piece, piece, piece], { objectMode: false })
    return { ended: pipeline(source, gate, sink, { signal }).then(() => bytes) }
  }
  const controller = new AbortController()
  const gone = transfer(controller.signal)
  const others = [transfer(), transfer(), transfer()]
  controller.abort(new Error('the client is gone'))
  await expect(gone.ended).rejects.toThrow('abort')
  let isOver = false
  const all = Promise.all(others.map(({ ended }) => ended)).finally(() => {
    isOver = true
  })
  while (!isOver || pending() > 0) {
    if (pending() > 0) await turn()
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(await all).toEqual([3, 3, 3].map(pieces => pieces * piece.length))
  expect(pending()).toBe(0)
})
