// What a question costs in the registry and the audit log, step by step, whatever fails.
import { expect, test } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { silentLog } from '../lib/log.ts'
import { SecretString } from '../lib/secret-string.ts'
import type { GitHubApp } from './app-clients.ts'
import { type PassingTokenDeps, withPassingToken } from './single-use-token.ts'

const minted = {
  token: new SecretString('ghs_x'),
  expiresAt: new Date('2026-01-01T01:00:00Z'),
  repositoryIds: [],
  permissions: { members: 'read' },
}

const question = {
  actor: 'sekisho:tests',
  namespace: 'acme',
  object: 'Installation/acme/github',
  reason: 'a question',
  installationId: 7,
  permissions: { members: 'read' },
}

/** Every outside effect as a word, in order; the effect named by `breaks` fails. */
function site(breaks?: string) {
  const steps: string[] = []
  const step = (word: string): Promise<void> => {
    steps.push(word)
    return word === breaks ? Promise.reject(new AppError('unavailable', `${word} broke`)) : Promise.resolve()
  }
  const deps: PassingTokenDeps = {
    tokens: {
      intend: () => step('intend').then(() => 'id'),
      recordMinted: (_id, _minted, revoking) => step(revoking === undefined ? 'deliverable' : 'record'),
      markRevoked: () => step('revoked'),
      abandon: () => step('abandon'),
    },
    audit: { append: ({ action, outcome }) => step(`${action} ${outcome}`) },
    log: silentLog,
  }
  const app = {
    client: { revoke: () => step('revoke') },
    endpoints: { host: 'github.com' },
    appId: 5,
  } as unknown as GitHubApp
  const ask = (mint: () => Promise<typeof minted | undefined> = () => step('mint').then(() => minted)) =>
    withPassingToken(deps, app, question, mint, () => step('use').then(() => 'answer'))
  return { steps, ask }
}

const intended = ['intend', 'token.intended allowed']
const recorded = ['mint', 'record', 'token.minted allowed']
const ended = ['revoke', 'token.revoked allowed', 'revoked']

test('registered and audited before it exists, under revocation before it is used, ended after use', async () => {
  const { steps, ask } = site()
  expect(await ask()).toBe('answer')
  expect(steps).toEqual([...intended, ...recorded, 'use', ...ended])
})

test.each([
  ['intend', ['intend']],
  ['token.intended allowed', intended],
  ['mint', [...intended, 'mint', 'abandon', 'token.refused failed']],
  ['record', [...intended, 'mint', 'record', ...ended]],
  ['token.minted allowed', [...intended, ...recorded, ...ended]],
  ['use', [...intended, ...recorded, 'use', ...ended]],
])('when %s fails nothing is learned, and a token that may exist is ended', async (breaks, steps) => {
  const world = site(breaks)
  await expect(world.ask()).rejects.toThrow(`${breaks} broke`)
  expect(world.steps).toEqual(steps)
})

test('a token that GitHub does not take back stays under revocation, and the answer counts', async () => {
  const { steps, ask } = site('revoke')
  expect(await ask()).toBe('answer')
  expect(steps).toEqual([...intended, ...recorded, 'use', 'revoke', 'token.revoked failed'])
})

test('what GitHub does not have gives no token and no answer', async () => {
  const { steps, ask } = site()
  expect(await ask(async () => undefined)).toBeUndefined()
  expect(steps).toEqual([...intended, 'abandon', 'token.refused failed'])
})
