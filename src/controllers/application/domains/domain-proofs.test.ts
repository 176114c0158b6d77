// The look-ups of domains: by a real resolver at a DNS server on loopback, and in turns that a test controls.
import { afterEach, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../../test/fixtures/dns-server.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { waitUntil } from '../../../lib/waiting/wait-until.ts'
import { dnsLookUp } from './dns-challenge.ts'
import { createDomainProofs } from './domain-proofs.ts'

let server: DnsServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const challenge = (host: string) => ({ name: `_sekisho-challenge.${host}`, value: 'sekisho-tenant=github.com/42' })

test('a record proves the account that it names, also in several strings and beside others', async () => {
  server = await startDnsServer()
  const proofs = createDomainProofs({ lookUp: dnsLookUp([server.address]), clock: systemClock })
  server.set('_sekisho-challenge.mine.test', 'other', ['sekisho-tenant=', 'github.com/42'])
  server.set('_sekisho-challenge.theirs.test', 'sekisho-tenant=github.com/421')
  const eventually = (host: string) =>
    waitUntil(`a proof for ${host}`, () => {
      const { kind } = proofs.stateOf(challenge(host), 'acme')
      expect(kind).not.toBe('pending')
      return kind
    })
  expect(await eventually('mine.test')).toBe('proven')
  expect(await eventually('theirs.test')).toBe('absent')
  expect(await eventually('nobody.test')).toBe('absent')
})

test('a name without a record is asked for less and less often, and at once when it is due', async () => {
  let now = 0
  const clock: Clock = { ...systemClock, monotonic: () => now }
  const asked: number[] = []
  const lookUp = async (): Promise<readonly string[]> => {
    asked.push(now)
    return []
  }
  const proofs = createDomainProofs({ lookUp, clock })
  for (; now <= 1_300_000; now += 1000) {
    proofs.stateOf(challenge('a.test'), 'acme')
    await Promise.resolve().then(() => undefined)
    await new Promise(setImmediate)
  }
  const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0))
  expect(pauses.slice(0, 8)).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
})

test('one tenant waits for itself: the names of another are looked up beside a slow one', async () => {
  const asked: string[] = []
  const slow = Promise.withResolvers<readonly string[]>()
  const lookUp = (name: string): Promise<readonly string[]> => {
    asked.push(name)
    return name.includes('slow') ? slow.promise : Promise.resolve([])
  }
  const proofs = createDomainProofs({ lookUp, clock: systemClock })
  for (let index = 0; index < 100; index++) proofs.stateOf(challenge(`slow${index}.test`), 'globex')
  proofs.stateOf(challenge('quick.test'), 'acme')
  await waitUntil('a proof for quick.test', seen => seen(proofs.stateOf(challenge('quick.test'), 'acme').kind) === 'absent')
  expect(asked.filter(name => name.includes('slow'))).toHaveLength(1)
  slow.resolve([])
  await waitUntil('every look-up to begin', seen => seen(asked).length === 101)
})

test('at most eight look-ups run at once', async () => {
  let running = 0
  let most = 0
  const lookUp = async (): Promise<readonly string[]> => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return []
  }
  const proofs = createDomainProofs({ lookUp, clock: systemClock })
  for (let index = 0; index < 50; index++) proofs.stateOf(challenge(`a${index}.test`), `tenant${index}`)
  await waitUntil('a proof for a49.test', seen => seen(proofs.stateOf(challenge('a49.test'), 'tenant49').kind) === 'absent')
  expect(most).toBe(8)
})
