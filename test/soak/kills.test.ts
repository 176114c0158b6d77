import { expect, test } from 'vitest'
import { createKills } from './kills.ts'
import type { SoakProcess } from './soak-process.ts'

const names = ['broker 0', 'controllers 0', 'admission 0', 'broker 1', 'controllers 1', 'admission 1']

function killing(mayGoOn: () => boolean) {
  const killed: string[] = []
  const processes = names.map(name => ({
    name,
    replace: async (signal: string) => void killed.push(`${name} ${signal}`),
  }))
  return { killed, kills: createKills(processes as unknown as readonly SoakProcess[], mayGoOn) }
}

test('one replica after the other is killed, those of one process never in a row', async () => {
  const { killed, kills } = killing(() => true)
  for (let count = 0; count < 7; count++) await kills.next()
  expect(killed).toEqual([...names, 'broker 0'].map(name => `${name} SIGKILL`))
  expect(Object.fromEntries(kills.counts)).toEqual({ broker: 3, controllers: 2, admission: 2 })
})

test('they end with the warm-up, but not before each process was killed once', async () => {
  const { killed, kills } = killing(() => false)
  for (let count = 0; count < 7; count++) await kills.next()
  expect(killed).toHaveLength(3)
  expect([...kills.counts.keys()]).toEqual(['broker', 'controllers', 'admission'])
})
