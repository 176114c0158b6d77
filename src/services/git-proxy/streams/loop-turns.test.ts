// How much passes in one turn of the event loop, and in which order.
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { settle } from '../../../lib/testing/fake-clock.ts'
import { createLoopTurns } from './loop-turns.ts'

const kibibyte = 1024

/** Turns that pass when the test says so. */
function byHand() {
  const scheduled: (() => void)[] = []
  const passed: string[] = []
  const turns = createLoopTurns(work => void scheduled.push(work))
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

test('small pieces share a turn, and one that is larger than a turn has it alone', async () => {
  const { add, turn, passed } = byHand()
  for (let at = 0; at < 9; at++) add(`small ${at}`, 16 * kibibyte)
  add('large', 1024 * kibibyte)
  add('last')
  await settle()
  expect(passed).toHaveLength(8)
  await turn()
  expect(passed.slice(8)).toEqual(['small 8', 'large'])
  await turn()
  expect(passed.at(-1)).toBe('last')
})

test('by itself the event loop turns between', async () => {
  const turns = createLoopTurns()
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
