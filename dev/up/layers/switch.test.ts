// A layer that is switched off is put back whatever happens: when the work fails, when it never was off, when something else put
// it back, and by the next run when this one was killed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import { readIntent } from './intent.ts'
import type { Kept, LayerSwitch, Standing } from './layer.ts'
import { layerNames, layerSwitches } from './list.ts'
import { forgetLayer, putBackLayer, type Switching, withoutLayer } from './switch.ts'

const stateFolder = mkdtempSync(join(tmpdir(), 'layers-'))
afterAll(() => rmSync(stateFolder, { recursive: true, force: true }))

const kept: readonly Kept[] = [{ path: '/x', object: { kind: 'X' } }]
let standing: Standing
let putBack: (readonly Kept[])[]

function switching(changed: Partial<LayerSwitch> = {}): Switching {
  const one: LayerSwitch = {
    what: '',
    alarm: '',
    keep: async () => kept,
    off: async () => {
      standing = 'off'
    },
    on: async (_, given) => {
      putBack.push(given)
      standing = 'on'
    },
    standing: async () => standing,
    ...changed,
  }
  const switches = Object.fromEntries(layerNames.map(name => [name, one])) as Switching['switches']
  return { stateFolder, switches, admin: {} as AdminClient, apiServerWithout: async () => {} }
}

beforeEach(() => {
  standing = 'on'
  putBack = []
})

test('what is switched off is on disk before it is off, and forgotten when it is back', async () => {
  const seen = await withoutLayer(switching(), 'policies', async () => [standing, await readIntent(stateFolder)])
  expect(seen).toEqual(['off', { layer: 'policies', kept }])
  expect([standing, putBack, await readIntent(stateFolder)]).toEqual(['on', [kept], undefined])
})

test('work that fails does not keep it off', async () => {
  const failing = withoutLayer(switching(), 'policies', () => Promise.reject(new Error('lost')))
  await expect(failing).rejects.toThrow('lost')
  expect([standing, await readIntent(stateFolder)]).toEqual(['on', undefined])
})

test('a switch that fails half way is put back, and nothing runs', async () => {
  const off = () => Promise.reject(new Error('403'))
  await expect(withoutLayer(switching({ off }), 'policies', () => expect.fail('it ran'))).rejects.toThrow('403')
  expect(putBack).toEqual([kept])
})

test('a layer that something put back during the run makes the run fail', async () => {
  const run = withoutLayer(switching(), 'network', async () => {
    standing = 'on'
  })
  await expect(run).rejects.toThrow('something put the layer network back')
})

test('a layer that cannot be put back stays noted: the next run puts it back, as it stood', async () => {
  const on = () => Promise.reject(new Error('no API server'))
  await expect(withoutLayer(switching({ on }), 'webhook', async () => {})).rejects.toThrow(
    'THE LAYER webhook IS NOT BACK: no API server; "make up" and the next "make attack" put it back',
  )
  expect(await readIntent(stateFolder)).toEqual({ layer: 'webhook', kept })
  expect(await putBackLayer(switching())).toBe('webhook')
  expect(putBack).toEqual([kept])
  expect(await putBackLayer(switching())).toBeUndefined()
})

test('after make up what it applied counts, and not what stood before', async () => {
  const on = () => Promise.reject(new Error('killed'))
  await expect(withoutLayer(switching({ on }), 'policies', async () => {})).rejects.toThrow('killed')
  expect(await forgetLayer(switching())).toEqual(['policies'])
  expect([putBack, await readIntent(stateFolder)]).toEqual([[[]], undefined])
})

test.each(['', '{"layer":', 'null', '{"layer":"moat","kept":[]}', '{"layer":"policies"}'])(
  'where it cannot be read which layer is off (%s), no attack begins, and make up puts each back',
  async text => {
    writeFileSync(join(stateFolder, 'layer-off.json'), text)
    await expect(putBackLayer(switching())).rejects.toThrow('"make up" puts all back')
    expect(await forgetLayer(switching())).toEqual(layerNames)
    expect([putBack.length, await readIntent(stateFolder)]).toEqual([layerNames.length, undefined])
    expect(await forgetLayer(switching())).toEqual([])
  },
)

test('every layer says what is off and what says so', () => {
  for (const { what, alarm } of Object.values(layerSwitches('.')))
    expect([what.length > 20, alarm.length > 5]).toEqual([true, true])
})
