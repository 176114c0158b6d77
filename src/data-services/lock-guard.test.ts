import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { createFakeClock, settle } from '../lib/testing/fake-clock.ts'
import type { Server } from './adapters/postgresql/server.ts'
import { createClosedLogins, createLockGuard } from './lock-guard.ts'

const round = 2_000

type Closing = (onClosed: (login: string) => void) => Promise<void>

function guardOf(closing: Closing, isLeader = () => true) {
  const clock = createFakeClock()
  const said: object[] = []
  const woken: string[] = []
  const closedLogins = createClosedLogins()
  closedLogins.onClosed(login => woken.push(login))
  const server = {} as Server
  const every = () => [['shared', { type: 'postgresql', server }]] as never
  const log = { error: (fields: object) => said.push(fields) }
  const closeTakers = (_: Server, onClosed: (login: string) => void) => closing(onClosed)
  const guard = createLockGuard({ servers: { every }, closedLogins, manager: { isLeader }, clock, log, closeTakers })
  return { guard, clock, said, woken }
}

test('a login that was closed is said; a server that is away, or had no room in time, is asked again without a word', async () => {
  const away = () => new AppError('unavailable', 'the server cannot be reached', { cause: new Error('gone') })
  const closings: Closing[] = [
    async onClosed => onClosed('l_taker'),
    async () => Promise.reject(away()),
    async onClosed => {
      onClosed('l_other')
      throw away()
    },
    async () => Promise.reject(new Error('a defect')),
  ]
  const { guard, clock, said, woken } = guardOf(async onClosed => closings.shift()?.(onClosed))
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
  expect(woken).toEqual(['l_taker', 'l_other'])
})

test('a process that does not lead closes nothing', async () => {
  const { guard, clock, said } = guardOf(
    async onClosed => onClosed('l_taker'),
    () => false,
  )
  guard.start()
  await settle()
  await clock.advance(round)
  await guard.stop()
  expect(said).toEqual([])
})
