// Which change of an AppSecret restarts an Application, and what is said when something that it needs is missing.
import { describe, expect, test } from 'vitest'
import { type AppSecret, appSecret } from '../../../api/apps/app-secret.ts'
import { usedSecrets } from '../../../api/apps/application/secret-uses.ts'
import { secretAnnotations, secretProblem } from './secret-checks.ts'

const spec = {
  env: [
    { name: 'PLAIN', value: 'x' },
    { name: 'URL', from: { secret: { name: 'database', key: 'URL' } } },
  ],
  envFrom: [{ secret: 'shop' }, { configMap: 'settings' }],
}

function made(name: string, version: number, keys: Readonly<Record<string, number>>, uid = `uid-${name}`): AppSecret {
  const { apiVersion, kind } = appSecret
  const changedAt = '2026-01-02T00:00:00Z'
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: 'acme', uid },
    spec: { sealed: {} },
    status: { version, keys: Object.entries(keys).map(([key, changed]) => ({ name: key, version: changed, changedAt })) },
  }
}
const facts = (...secrets: readonly AppSecret[]) => new Map(secrets.map(one => [one.metadata.name, one]))
const database = made('database', 3, { URL: 2, OTHER: 3 })
const shop = made('shop', 7, { A: 7 })

test('every AppSecret is used once, wherever it is named', () => {
  expect(usedSecrets(spec)).toEqual(['database', 'shop'])
  expect(usedSecrets({ envFrom: [{ secret: 'shop' }, { secret: 'shop' }] })).toEqual(['shop'])
  expect(usedSecrets({})).toEqual([])
})

describe('a missing', () => {
  const missing = (...secrets: readonly AppSecret[]) => secretProblem(spec, facts(...secrets))

  test('AppSecret is named with its field and the cure', () => {
    expect(missing(shop)).toEqual({
      reason: 'SecretNotFound',
      message:
        'spec.env[URL].from.secret: there is no AppSecret database: create it by `sekisho secrets set` or `kubectl apply`, or remove the reference',
    })
    expect(missing(database)?.message).toContain('spec.envFrom[0].secret: there is no AppSecret shop')
  })

  test('key is named', () => {
    const problem = missing(made('database', 4, { OTHER: 3 }), shop)
    expect(problem?.message).toContain('spec.env[URL].from.secret: AppSecret database has no key URL: set it by')
  })

  test('status means that it is not ready yet', () => {
    const { status: _, ...fresh } = shop
    expect(missing(database, fresh)?.message).toBe(
      'spec.envFrom[0].secret: AppSecret shop is not ready yet (it was just created)',
    )
  })

  test('nothing is no problem', () => {
    expect(missing(database, shop)).toBeUndefined()
    expect(secretProblem({}, facts())).toBeUndefined()
  })
})

describe('the annotation of pods', () => {
  const annotation = (...secrets: readonly AppSecret[]) => secretAnnotations(spec, facts(...secrets))?.['sekisho.dev/secrets']
  const before = annotation(database, shop)

  test.each([
    ['a key that is used changed', [made('database', 4, { URL: 4, OTHER: 3 }), shop]],
    ['any key of a whole one changed', [database, made('shop', 8, { A: 7, B: 8 })]],
    ['it was deleted and made again', [database, made('shop', 7, { A: 7 }, 'uid-other')]],
  ])('changes when %s', (_what, secrets) => {
    expect(annotation(...secrets)).not.toBe(before)
  })

  test('stays when only another key changed, and in any order', () => {
    expect(annotation(made('database', 4, { URL: 2, OTHER: 4 }), shop)).toBe(before)
    const turned = { ...spec, envFrom: [...spec.envFrom].reverse() }
    expect(secretAnnotations(turned, facts(shop, database))?.['sekisho.dev/secrets']).toBe(before)
    expect(before).toMatch(/^[0-9a-f]{32}$/)
  })

  test('is absent without AppSecrets', () => {
    expect(secretAnnotations({ env: [{ name: 'A' }] }, facts())).toBeUndefined()
  })
})
