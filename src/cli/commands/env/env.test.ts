// What `sekisho env` changes, and what it shows of sources that become variables whole.
import { describe, expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { configMaps } from '../../../api/builtin/core.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { systemClock } from '../../../lib/clock.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { parseVariables, reservedVariable, withoutVariables, withVariables } from './env-change.ts'
import { envList } from './env-list.ts'

describe('env set and unset', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', from: { secret: { name: 'shop', key: 'B' } } },
  ]
  test('a value may contain =, and replaces a reference', () => {
    expect(withVariables(env, parseVariables(['B=x=y', 'C=']))).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: 'x=y' },
      { name: 'C', value: '' },
    ])
  })
  test('what is not set cannot be removed', () => {
    expect(withoutVariables(env, ['A'])).toEqual([env[1]])
    expect(() => withoutVariables(env, ['C'])).toThrow('C is not set')
  })
  test.each(['A', '1A=x', 'A-B=x', '=x'])('%j is refused', word => {
    expect(() => parseVariables([word])).toThrow(/write a name and a value|a name has letters/)
  })
  test('names of the platform are refused with the reason', () => {
    expect(reservedVariable('PORT')).toContain('spec.processes')
    expect(reservedVariable('SEKISHO_COMMIT')).toContain('set by the platform')
    expect(reservedVariable('LOG_LEVEL')).toBeUndefined()
  })
})

const appSecret = {
  metadata: { name: 'shop' },
  spec: { sealed: { DATABASE_URL: 'eyJsealed', LOG_LEVEL: 'eyJsealed' } },
  status: { version: 2, keys: [{ name: 'DATABASE_URL' }, { name: 'LOG_LEVEL' }] },
}
const configMap = { metadata: { name: 'defaults' }, data: { REGION: 'eu', LOG_LEVEL: 'info', 'file.txt': 'x' } }

/** Runs `env list` for an Application with these variables. `refused` is the one kind that the person may not read. */
async function listed(spec: object, output: 'table' | 'json', refused?: object): Promise<string> {
  const lines: string[] = []
  const application = { metadata: { name: 'shop' }, spec } as unknown as Application
  const client = {
    async get(type: object, { name }: { name: string }) {
      if (type === refused)
        throw new KubeError(
          `GET: 403 Forbidden: configmaps "${name}" is forbidden: User "ada" cannot get resource "configmaps" in API group ""`,
          { status: 403, reason: 'Forbidden' },
        )
      const all = new Map<object, { metadata: { name: string } }>([
        [applications, application],
        [appSecrets, appSecret],
        [configMaps, configMap],
      ])
      const one = all.get(type)
      return one?.metadata.name === name ? one : undefined
    },
  }
  const terminal = { result: (text: string) => void lines.push(text), say: (text: string) => void lines.push(text) }
  const cluster = { client, namespace: 'acme', destination: { server: '', context: '', namespace: 'acme', signsInWithUs: true } }
  const context = { terminal, clock: systemClock, cluster } as unknown as ClusterContext
  await envList(context, { output }, 'shop')
  return lines.join('\n')
}

describe('env list', () => {
  const spec = {
    env: [
      { name: 'REGION', value: 'us' },
      { name: 'PASSWORD', from: { secret: { name: 'shop', key: 'DATABASE_URL' } } },
    ],
    envFrom: [{ configMap: 'defaults' }, { secret: 'shop' }, { configMap: 'gone' }],
  }

  test('programs get the fields of the spec, with the keys of each source and those that another value overrides', async () => {
    expect(JSON.parse(await listed(spec, 'json'))).toEqual({
      env: spec.env,
      envFrom: [
        { configMap: 'defaults', keys: ['LOG_LEVEL', 'REGION', 'file.txt'], overridden: ['LOG_LEVEL', 'REGION'] },
        { secret: 'shop', keys: ['DATABASE_URL', 'LOG_LEVEL'], overridden: [] },
        { configMap: 'gone', problem: 'it does not exist: pods do not start without it' },
      ],
    })
  })

  test('people get both tables', async () => {
    expect(await listed(spec, 'table')).toBe(
      [
        'NAME      VALUE',
        'REGION    us',
        'PASSWORD  (key DATABASE_URL of AppSecret shop)',
        '',
        'ALL KEYS OF         KEYS',
        'ConfigMap defaults  LOG_LEVEL (overridden), REGION (overridden), file.txt',
        'AppSecret shop      DATABASE_URL, LOG_LEVEL',
        'ConfigMap gone      (it does not exist: pods do not start without it)',
      ].join('\n'),
    )
    const services = [
      { name: 'db', instance: 'shop-db', access: 'ReadWrite' as const },
      { name: 'log', instance: 'log-db', access: 'ReadOnly' as const, env: { LOG_HOST: 'host' } },
      { name: 'up', bucket: 'pictures', access: 'WriteOnly' as const, env: { UPLOADS: 'bucket' } },
    ]
    expect(await listed({ services }, 'table')).toBe(
      [
        'NAME          VALUE',
        'DATABASE_URL  (key uri of service db, ServiceInstance shop-db)',
        'LOG_HOST      (key host of service log, ServiceInstance log-db)',
        'UPLOADS       (key bucket of service up, Bucket pictures)',
      ].join('\n'),
    )
    expect(JSON.parse(await listed({ services }, 'json'))).toMatchObject({ services })
    expect(await listed({ envFrom: [{ secret: 'shop' }] }, 'table')).toBe(
      'ALL KEYS OF     KEYS\nAppSecret shop  DATABASE_URL, LOG_LEVEL',
    )
    expect(await listed({}, 'table')).toContain('shop has no environment variables; sekisho env set')
  })

  test('neither a value of a secret nor one of a ConfigMap is shown', async () => {
    for (const output of ['json', 'table'] as const) expect(await listed(spec, output)).not.toMatch(/eyJ|info|\beu\b/)
  })

  test('a source that the person may not read is named', async () => {
    const { envFrom } = JSON.parse(await listed(spec, 'json', configMaps)) as { envFrom: readonly object[] }
    expect(envFrom[0]).toEqual({
      configMap: 'defaults',
      problem: expect.stringMatching(/^you may not read configmaps in acme: /),
    })
    expect(envFrom[1]).toMatchObject({ secret: 'shop', overridden: [] })
  })
})
