// Builds that one builder began are not begun again by another that took over its strategy: an upgrade, and a downgrade.
import { expect, test } from 'vitest'
import type { Builder, BuildRequest, BuildState } from './builder.ts'
import { chooseBuilder } from './choose-builder.ts'
import { noBuilder } from './no-builder.ts'

const key = { namespace: 'acme-build', name: 'shop-1' }
const owner = { kind: 'RemoteSync', namespace: 'acme', name: 'shop', uid: 'uid-1' }
const running: BuildState = { kind: 'running', step: 'build', needsSource: false, deadline: new Date(0) }

/** A builder that has the build, in its cache or only on the API server; and what it is asked to do. */
function holding(place: 'cache' | 'server' | 'nowhere') {
  const asked: string[] = []
  const builder: Builder = {
    ...noBuilder('none'),
    start: async () => {
      asked.push('start')
      return { kind: 'started' }
    },
    observe: async () => (place === 'nowhere' ? { kind: 'absent' } : running),
    cancel: async () => void asked.push('cancel'),
    known: () => place === 'cache',
  }
  return { builder, asked }
}

test.each(['cache', 'server'] as const)('a build of the former builder is found in its %s, and ended there', async place => {
  const [present, former] = [holding('nowhere'), holding(place)]
  const chosen = chooseBuilder([present.builder, former.builder], () => present.builder)
  expect(await chosen.observe(key, owner)).toBe(running)
  expect(chosen.known(key)).toBe(place === 'cache')
  await chosen.cancel(key)
  expect(former.asked).toEqual(['cancel'])
})

test('the choice is made for each request', async () => {
  const [one, other] = [holding('nowhere'), holding('nowhere')]
  const chosen = chooseBuilder([one.builder, other.builder], async ({ builder }) =>
    builder === undefined ? one.builder : other.builder,
  )
  await chosen.start({ key } as BuildRequest)
  await chosen.start({ key, builder: 'paketo' } as BuildRequest)
  await chosen.start({ key, builder: 'paketo' } as BuildRequest)
  expect([one.asked.length, other.asked.length]).toEqual([1, 2])
})
