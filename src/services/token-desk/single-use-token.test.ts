// The steps of a single-use token in the registry, the audit log and at GitHub, whatever fails.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { AppError } from '../../lib/errors.ts'
import { SecretString } from '../../lib/secret-string.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { TokenIntent } from '../../store/token-registry.ts'
import type { GitHubApp } from './app-clients.ts'
import { type SingleUseTokenDeps, withSingleUseToken } from './single-use-token.ts'

const minted = {
  token: new SecretString('ghs_x'),
  expiresAt: new Date('2026-01-01T01:00:00Z'),
  repositoryIds: [],
  permissions: { members: 'read' },
}

const request = {
  actor: 'sekisho:tests',
  namespace: 'acme',
  object: 'Installation/acme/github',
  reason: 'a platform request',
  installationId: 7,
  permissions: { members: 'read' },
}

/** Every outside effect as a word, in order; the effect named by `breaks` fails. */
function fixture(breaks?: string) {
  const steps: string[] = []
  const records: AuditRecord[] = []
  const intents: TokenIntent[] = []
  const step = (word: string): Promise<void> => {
    steps.push(word)
    return word === breaks ? Promise.reject(new AppError('unavailable', `${word} broke`)) : Promise.resolve()
  }
  const deps: SingleUseTokenDeps = {
    tokens: {
      intend: intent => {
        intents.push(intent)
        return step('intend').then(() => 'id')
      },
      recordMinted: (_id, _minted, revoking) => step(revoking === undefined ? 'deliverable' : 'record'),
      markRevoked: () => step('revoked'),
      abandon: () => step('abandon'),
    },
    audit: {
      append: record => {
        records.push(record)
        return step(`${record.action} ${record.outcome}`)
      },
    },
    log: silentLog,
  }
  const app = {
    client: { revoke: () => step('revoke') },
    endpoints: { host: 'github.com' },
    appId: 5,
  } as unknown as GitHubApp
  const run = (mint: () => Promise<typeof minted | undefined> = () => step('mint').then(() => minted)) =>
    withSingleUseToken(deps, app, { request, mint, use: () => step('use').then(() => 'answer') })
  return { steps, records, intents, run }
}

const intended = ['intend', 'token.intended allowed']
const recorded = ['mint', 'record', 'token.minted allowed']
const ended = ['revoke', 'token.revoked allowed', 'revoked']

test('is registered and audited before it exists, stored as revoking before it is used, and revoked after use', async () => {
  const { steps, run } = fixture()
  expect(await run()).toBe('answer')
  expect(steps).toEqual([...intended, ...recorded, 'use', ...ended])
})

test.each([
  ['intend', ['intend']],
  ['token.intended allowed', intended],
  ['mint', [...intended, 'mint', 'abandon', 'token.refused failed']],
  ['record', [...intended, 'mint', 'record', ...ended]],
  ['token.minted allowed', [...intended, ...recorded, ...ended]],
  ['use', [...intended, ...recorded, 'use', ...ended]],
])('returns nothing when %s fails, and revokes a token that may exist', async (breaks, steps) => {
  const { steps: taken, run } = fixture(breaks)
  await expect(run()).rejects.toThrow(`${breaks} broke`)
  expect(taken).toEqual(steps)
})

test('stays stored as revoking when GitHub does not revoke it, and the result counts', async () => {
  const { steps, run } = fixture('revoke')
  expect(await run()).toBe('answer')
  expect(steps).toEqual([...intended, ...recorded, 'use', 'revoke', 'token.revoked failed'])
})

test('resolves to undefined when GitHub does not have what was requested', async () => {
  const { steps, run } = fixture()
  expect(await run(async () => undefined)).toBeUndefined()
  expect(steps).toEqual([...intended, 'abandon', 'token.refused failed'])
})

test('its records say when it ends, and the registry where they stand: the sweep records a late end there', async () => {
  const { records, intents, run } = fixture()
  await run()
  const created = records.find(({ action }) => action === 'token.minted')
  expect(created).toMatchObject({ namespace: 'acme', details: { expiresAt: '2026-01-01T01:00:00.000Z' } })
  expect(intents[0]?.facts).toEqual({ recordedAt: { namespace: 'acme', object: 'Installation/acme/github' } })
})
