// Which repository a name means: by the ids of the grant, asked of GitHub when git begins.
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../lib/testing/fake-clock.ts'
import type { DeliveredToken } from '../../token-desk/token-desk.ts'
import { createRepositoryNames } from './repository-names.ts'

/** `names`: what each id is called at GitHub now. */
function world(repositories: DeliveredToken['repositories'], names: Map<number, string>) {
  const clock = createFakeClock(0)
  const asked: number[] = []
  const repository = async (id: number) => {
    asked.push(id)
    await Promise.resolve()
    const fullName = names.get(id)
    return fullName === undefined ? undefined : ({ id, fullName } as never)
  }
  const found = createRepositoryNames(() => ({ repository }), clock)
  const token = { repositories } as DeliveredToken
  const find = (name: string, advertises = true) => found.find(name, { grantUid: 'g', token, advertises })
  return { clock, asked, find }
}

const shop = { id: 1, fullName: 'acme/shop' }

test('a name that passed to somebody else since is not what is fetched: the id decides at each advertisement', async () => {
  const names = new Map([[1, 'acme/shop']])
  const { asked, find, clock } = world([shop], names)
  expect(await find('acme/shop')).toEqual(shop)
  expect(await find('acme/shop', false)).toEqual(shop)
  expect(asked).toEqual([1])
  names.set(1, 'acme/moved')
  await clock.advance(1)
  expect(await find('acme/shop')).toEqual({ id: 1, fullName: 'acme/moved' })
  names.set(1, 'acme/again')
  await clock.advance(5001)
  expect(await find('acme/shop', false)).toEqual({ id: 1, fullName: 'acme/again' })
  names.delete(1)
  await clock.advance(1)
  expect(await find('acme/shop')).toBeUndefined()
})

test('a name that another repository of the grant has now means that one, and is asked for anew as well', async () => {
  const names = new Map([
    [1, 'acme/old'],
    [2, 'acme/shop'],
  ])
  const { find, asked, clock } = world([shop, { id: 2, fullName: 'acme/other' }], names)
  expect(await find('acme/shop')).toEqual({ id: 2, fullName: 'acme/shop' })
  names.set(2, 'acme/gone')
  await clock.advance(1)
  expect(await find('acme/shop')).toEqual({ id: 1, fullName: 'acme/old' })
  expect(asked.filter(id => id === 2)).toHaveLength(2)
})

test('those who ask at once ask GitHub once', async () => {
  const { find, asked } = world([shop], new Map([[1, 'acme/shop']]))
  await Promise.all(Array.from({ length: 20 }, () => find('ACME/Shop')))
  expect(asked).toEqual([1])
})
