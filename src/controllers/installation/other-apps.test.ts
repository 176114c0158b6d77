// Which other Apps of a pool are found on an account: by number, on the same host, and without an effect on the Installation.
import { expect, test } from 'vitest'
import type { ClusterGitHubApp } from '../../api/github/cluster-github-app.ts'
import type { Installation } from '../../api/github/installation.ts'
import type { InstallationFacts } from '../../github/index.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import type { GitHubApp } from '../../services/token-desk/app-clients.ts'
import { installationObject } from '../../services/token-desk/testing/desk-objects.ts'
import { appsOfPool, otherAppsOf } from './other-apps.ts'

const { account } = installationObject.spec
const app = (name: string, appId: number, spec: Partial<ClusterGitHubApp['spec']> = {}): ClusterGitHubApp => ({
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'ClusterGitHubApp',
  metadata: { name },
  spec: { host: account.host, appId, clientId: 'x', pool: 'acme', ...spec },
})

test('a pool is of one host, by its name; the same App under another name is no other', () => {
  const { pool: _, ...alone } = app('alone', 4).spec
  const apps = [
    app('one', 1),
    app('two', 2),
    app('again', 1),
    app('three', 3, { pool: 'other' }),
    { ...app('alone', 4), spec: alone },
    app('away', 5, { host: 'other.example' }),
  ]
  expect(appsOfPool('one', apps)).toEqual(['two'])
  expect(appsOfPool('two', apps)).toEqual(['again', 'one'])
  for (const name of ['three', 'alone', 'away', 'gone']) expect(appsOfPool(name, apps), name).toEqual([])
})

const there = (appId: number, change: Partial<InstallationFacts> = {}): InstallationFacts => ({
  id: 80 + appId,
  appId,
  account: { id: account.id, login: 'acme', type: 'Organization' },
  suspendedAt: undefined,
  repositorySelection: 'selected',
  permissions: { contents: 'read' },
  ...change,
})

test('what each App says of the account; of one that does not answer, what was known', async () => {
  const answers: Record<string, { readonly host?: string; readonly found?: InstallationFacts; readonly error?: Error }> = {
    two: { found: there(2) },
    three: {},
    four: { found: there(4, { suspendedAt: new Date() }) },
    five: { found: there(6) },
    six: { host: 'other.example', found: there(6) },
    seven: { error: new AppError('unavailable', 'down') },
    eight: { error: new AppError('unavailable', 'down') },
  }
  const asked: object[] = []
  const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
  const deps = {
    githubApps: {
      get: async (name: string): Promise<GitHubApp> => ({
        client: { name } as never,
        endpoints: { host: answers[name]?.host ?? account.host, web: '', api: '' },
        appId: numbers.indexOf(name) + 1,
      }),
    },
    directory: {
      async onAccount({ client }: GitHubApp, of: { readonly id: number; readonly type: string }) {
        const { name } = client as unknown as { readonly name: string }
        asked.push({ id: of.id, type: of.type })
        if (answers[name]?.error) throw answers[name].error
        return answers[name]?.found
      },
    },
    poolOf: () => Object.keys(answers),
    log: silentLog,
  }
  const known = { app: 'seven', installationId: 87, permissions: {} }
  const object: Installation = { ...installationObject, status: { otherApps: [known, { ...known, app: 'three' }] } }
  expect(await otherAppsOf(deps, object)).toEqual([{ app: 'two', installationId: 82, permissions: { contents: 'read' } }, known])
  expect(new Set(asked.map(one => JSON.stringify(one)))).toEqual(new Set([JSON.stringify({ id: 2001, type: 'Organization' })]))
})
