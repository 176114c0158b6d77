// Which base branches GitHub is asked for: those of merge commits, once until something is pushed.
import { expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { PullRequest } from '../../../github/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import type { KnownPullRequests } from '../pull-requests/known.ts'
import { facts, now, pipeline, preview, pull, repository, sha } from '../testing/app-pipeline.ts'
import { listPullRequests } from './list-pull-requests.ts'

const template = { application: { chart: 'web' }, build: { strategy: 'Buildpacks', timeoutSeconds: 900 } } as const
const merging = pipeline({ template: { ...template, source: 'Merge' } })
const signal = new AbortController().signal
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString()

/** Lists these pull requests, of which 1 to 3 have a preview. */
async function listed(
  pulls: readonly PullRequest[],
  {
    of = merging,
    known,
    error,
  }: { readonly of?: AppPipeline; readonly known?: KnownPullRequests; readonly error?: AppError } = {},
) {
  const asked: string[] = []
  const reader = {
    openPullRequests: async () => pulls,
    pullRequest: async () => undefined,
    filesOf: async () => undefined,
    commitSkips: async () => false,
    async branch(_repository: number, name: string) {
      asked.push(name)
      if (error !== undefined) throw error
      return name === 'gone' ? undefined : sha(50)
    },
  }
  const access = async () => ({
    ...{
      endpoints: { host: 'h', web: 'w', api: 'a' },
      token: new SecretString('t'),
      repository: { id: repository, fullName: 'acme/shop' },
    },
  })
  const deps = { openPullRequests: () => reader, clock: { now: () => now, sleep: async () => {} } }
  const present = facts({ pipeline: of, existing: [preview(1), preview(2), preview(3)], known })
  const result = await listPullRequests(deps, present, { access, installationId: 1, signal })
  return { asked, known: result, tips: [...result.tips].map(([branch, { commit }]) => [branch, commit]) }
}

test('each base branch of a preview of merge commits is asked for once', async () => {
  const pulls = [pull(1), pull(2), pull(3, { baseBranch: 'release/1' }), pull(4, { baseBranch: 'other' })]
  expect(await listed(pulls)).toMatchObject({
    asked: ['main', 'release/1'],
    tips: [
      ['main', sha(50)],
      ['release/1', sha(50)],
    ],
  })
  expect(await listed(pulls, { of: pipeline() })).toMatchObject({ asked: [], tips: [] })
})

test('and not again before somebody pushes, but in doubt', async () => {
  const at = (pushedAt: string | undefined) => [pull(1, { pushedAt })]
  const { known } = await listed(at(ago(3600)))
  expect(await listed(at(ago(3600)), { known })).toMatchObject({ asked: [], tips: [['main', sha(50)]] })
  expect((await listed(at(ago(3599)), { known })).asked).toEqual(['main'])
  // GitHub says nothing, or the answer may be older than a push in the same moment.
  for (const pushedAt of [undefined, ago(30)]) {
    const { known } = await listed(at(pushedAt))
    expect((await listed(at(pushedAt), { known })).asked, String(pushedAt)).toEqual(['main'])
  }
})

test('nothing is known about a branch that GitHub does not show; what concerns all of GitHub fails the list', async () => {
  expect(await listed([pull(1, { baseBranch: 'gone' })])).toMatchObject({ asked: ['gone'], tips: [] })
  const refused = new AppError('upstream_failed', 'no')
  expect(await listed([pull(1)], { error: refused })).toMatchObject({ tips: [] })
  await expect(listed([pull(1)], { error: new AppError('unavailable', 'no') })).rejects.toMatchObject({ code: 'unavailable' })
})
