import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { createFakeClock, settle } from '../lib/testing/fake-clock.ts'
import type { Server } from './adapters/postgresql/server.ts'
import { createLockGuard } from './lock-guard.ts'

const round = 2_000

function guardOf(answers: () => Promise<readonly string[]>, isLeader = () => true) {
  const clock = createFakeClock()
  const said: object[] = []
  const server = { asGuard: answers } as unknown as Server
  const every = () => [['shared', { type: 'postgresql', server }]] as never
  const log = { error: (fields: object) => said.push(fields) }
  const guard = createLockGuard({ servers: { every }, manager: { isLeader }, clock, log })
  return { guard, clock, said }
}

test('a login that was closed is said; a server that is away, or had no room in time, is asked again without a word', async () => {
  const answers: (() => Promise<readonly string[]>)[] = [
    async () => ['l_taker'],
    async () => Promise.reject(new AppError('unavailable', 'the server cannot be reached', { cause: new Error('gone') })),
    async () => ['l_other'],
    async () => Promise.reject(new Error('a defect')),
  ]
  const { guard, clock, said } = guardOf(async () => (await answers.shift()?.()) ?? [])
  guard.start()
  for (let rounds = 0; rounds < 5; rounds++) {
    await settle()
    await clock.advance(round)
  }
  await guard.stop()
  expect(said).toEqual([
    { serviceClass: 'shared', login: 'l_taker' },
    { serviceClass: 'shared', login: 'l_other' },
    { error: 'a defect' },
  ])
})

test('a process that does not lead closes nothing', async () => {
  const { guard, clock, said } = guardOf(
    async () => ['l_taker'],
    () => false,
  )
  guard.start()
  await settle()
  await clock.advance(round)
  await guard.stop()
  expect(said).toEqual([])
})
