// Where values come from, and what is sent and said: the name of a value is printed, the value never.
import { describe, expect, test } from 'vitest'
import type { AppSecret } from '../../../api/apps/app-secret.ts'
import type { Application } from '../../../api/apps/application.ts'
import { systemClock } from '../../../lib/clock.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { secretsList } from './list.ts'
import { readValues, type ValueSources } from './read-values.ts'
import { setFrom } from './set.ts'
import { secretsUnset } from './unset.ts'

const sources: ValueSources = {
  readFile: async path => {
    if (path === 'server.key') return Buffer.from('line\n')
    throw new Error(`ENOENT ${path}`)
  },
  readInput: async () => Buffer.from('piped hunter2\n'),
  ask: undefined,
}

describe('values come from', () => {
  const read = async (words: readonly string[], more: Partial<ValueSources> = {}) => {
    const { values, inArguments } = await readValues(words, { ...sources, ...more })
    return { ...Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()])), inArguments }
  }

  test('arguments, files, standard input and the keyboard', async () => {
    expect(await read(['A=b=c', 'EMPTY='])).toEqual({ A: 'b=c', EMPTY: '', inArguments: true })
    expect(await read(['KEY=@server.key', 'A=-'])).toEqual({ KEY: 'line\n', A: 'piped hunter2', inArguments: false })
    expect(await read(['A'])).toEqual({ A: 'piped hunter2', inArguments: false })
    const asked: string[] = []
    const ask = async (question: string) => {
      asked.push(question)
      return 'typed'
    }
    expect(await read(['A', 'B'], { ask })).toEqual({ A: 'typed', B: 'typed', inArguments: false })
    expect(asked).toEqual(['A: ', 'B: '])
  })

  test.each([
    [['hunter2 with space=x'], /write a name of letters/],
    [['=hunter2'], /write a name of letters/],
    [['PORT=hunter2'], /the platform sets PORT/],
    [['SEKISHO_COMMIT=hunter2'], /set by the platform/],
    [['A=hunter2', 'A=hunter2'], /A is given twice/],
    [['A=-', 'B=-'], /standard input is one value/],
    [['A=@hunter2'], /the file after @ cannot be read/],
  ])('%j is refused without the value', async (words, says) => {
    const error = await read(words).catch((reason: unknown) => reason as Error)
    expect((error as Error).message).toMatch(says)
    expect((error as Error).message).not.toContain('hunter2')
  })

  test('what is too long or not text is refused', async () => {
    await expect(read(['A=-'], { readInput: async () => Buffer.alloc(40_000, 'x') })).rejects.toThrow('larger than 32 KiB')
    await expect(read(['A=-'], { readInput: async () => Buffer.from([0xff, 0xfe]) })).rejects.toThrow('not UTF-8 text')
  })
})

type Sent = { readonly verb: string; readonly body: unknown }

/** A cluster with these objects, whose platform takes every change over at once. */
function cluster(given: { readonly apps: readonly object[]; readonly secret?: object }) {
  const sent: Sent[] = []
  const lines: string[] = []
  let secret = given.secret as AppSecret | undefined
  let [app] = given.apps as readonly Application[]
  const apps = () => given.apps.map((one, index) => (index === 0 ? app : one)) as readonly Application[]
  const keysAfter = (spec: Record<string, Record<string, string | null>>) => {
    const before = new Map((secret?.status?.keys ?? []).map(key => [key.name, key]))
    const version = (secret?.status?.version ?? 0) + 1
    const changedAt = '2026-01-01T00:00:00Z'
    for (const [name, value] of Object.entries(spec['values'] ?? spec['sealed'] ?? {}))
      if (value === null) before.delete(name)
      else before.set(name, { name, version, changedAt })
    return { version, keys: [...before.values()] }
  }
  const change = (verb: string, body: { readonly spec: Record<string, Record<string, string | null>> }): AppSecret => {
    sent.push({ verb, body: body.spec })
    const generation = (secret?.metadata.generation ?? 0) + 1
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Stored', message: '' }]
    const status = { ...keysAfter(body.spec), observedGeneration: generation, conditions }
    const sealed = Object.fromEntries(status.keys.map(({ name }) => [name, 'eyJ']))
    secret = { metadata: { name: 'shop', generation }, spec: { sealed }, status } as unknown as AppSecret
    return secret
  }
  const client = {
    get: async (type: object, { name }: { name: string }) =>
      type === applications ? apps().find(({ metadata }) => metadata.name === name) : secret,
    list: async (type: object) => (type === applications ? apps() : secret === undefined ? [] : [secret]),
    apply: async (_type: object, body: never) => change('apply', body),
    async mergePatch(type: object, _key: object, body: { spec: Record<string, Record<string, string | null>> }) {
      if (type === appSecrets) return change('patch', body)
      sent.push({ verb: 'patch application', body: body.spec })
      app = { ...app, spec: { ...app?.spec, ...body.spec } } as unknown as Application
      return app
    },
  }
  const terminal = { result: (text: string) => void lines.push(text), say: (text: string) => void lines.push(text) }
  const context = { terminal, clock: systemClock, cluster: { client, namespace: 'acme' } } as unknown as ClusterContext
  return { context, sent, lines }
}

const application = (name: string, spec: object = {}) => ({ metadata: { name, resourceVersion: '1' }, spec })
const withKey = {
  metadata: { name: 'shop', generation: 1 },
  spec: { sealed: { A: 'eyJ' } },
  status: { version: 1, observedGeneration: 1, keys: [{ name: 'A', version: 1, changedAt: '2026-01-01T00:00:00Z' }] },
}

test('set stores the values, attaches them once, and says who restarts', async () => {
  const worker = application('worker', { env: [{ name: 'X', from: { secret: { name: 'shop', key: 'A' } } }] })
  const { context, sent, lines } = cluster({ apps: [application('shop'), worker, application('other')] })
  await setFrom(sources, context, { output: 'table' }, { name: 'shop', words: ['A=hunter2', 'B=-'] })
  expect(sent).toEqual([
    { verb: 'apply', body: { values: { A: 'hunter2', B: 'piped hunter2' } } },
    { verb: 'patch application', body: { envFrom: [{ secret: 'shop' }] } },
  ])
  expect(lines[0]).toBe('shop: A, B set, version 1; Applications shop, worker restart with it, one pod after the other')
  expect(lines[1]).toContain('history of your shell')
  await setFrom(sources, context, { output: 'json' }, { name: 'shop', words: ['B=-'] })
  expect(sent.slice(2).map(({ verb }) => verb)).toEqual(['apply'])
  expect(JSON.parse(lines[2] ?? '')).toEqual({
    ...{ appSecret: 'shop', version: 2, set: ['B'], changed: ['B'], attached: false, restarts: ['shop'] },
  })
  expect(lines.join('\n')).not.toContain('hunter2')
})

test('set for an Application that does not exist stores nothing and names those that do', async () => {
  const { context, sent } = cluster({ apps: [application('shop')] })
  const wrong = setFrom(sources, context, { output: 'table' }, { name: 'shpo', words: ['A=x'] })
  await expect(wrong).rejects.toThrow(/Application shpo does not exist in acme; there are shop/)
  expect(sent).toEqual([])
})

test('set stores values for builds without an Application', async () => {
  const { context, sent, lines } = cluster({ apps: [application('shop')] })
  await setFrom(sources, context, { output: 'table', attach: false }, { name: 'npm', words: ['NPM_TOKEN=-'] })
  expect(sent).toEqual([{ verb: 'apply', body: { values: { NPM_TOKEN: 'piped hunter2' } } }])
  expect(lines).toEqual(['npm: NPM_TOKEN set, version 1; no Application uses it'])
})

test('unset removes by null, and refuses a value that is not set', async () => {
  const { context, sent, lines } = cluster({ apps: [application('shop', { envFrom: [{ secret: 'shop' }] })], secret: withKey })
  await expect(secretsUnset(context, { output: 'table' }, 'shop', ['B'])).rejects.toThrow('B is not set')
  await secretsUnset(context, { output: 'table' }, 'shop', ['A'])
  expect(sent).toEqual([{ verb: 'patch', body: { sealed: { A: null } } }])
  expect(lines).toEqual(['shop: A removed, version 2; Application shop restarts with it, one pod after the other'])
})

test('list shows names, versions and users', async () => {
  const { context, lines } = cluster({ apps: [application('shop', { envFrom: [{ secret: 'shop' }] })], secret: withKey })
  await secretsList(context, { output: 'table' })
  expect(lines[0]).toMatch(/^APPSECRET +KEY +VERSION +CHANGED +USED BY\nshop +A +1 +\d+d +shop$/)
  const empty = cluster({ apps: [] })
  await secretsList(empty.context, { output: 'table' })
  expect(empty.lines[0]).toBe('acme has no secret values; sekisho secrets set <application> KEY sets one')
  const without = cluster({ apps: [application('shop')] })
  await secretsList(without.context, { output: 'table' }, 'shop')
  expect(without.lines).toEqual(['shop has no secret values; sekisho secrets set shop KEY sets one'])
  await expect(secretsList(without.context, { output: 'table' }, 'shpo')).rejects.toThrow('AppSecret shpo does not exist')
})
