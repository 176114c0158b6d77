// The policy of an AppPipeline, one row for each of its checks.
import { describe, expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { PreviewApproval } from '../../../api/apps/preview-approval.ts'
import type { PullRequest } from '../../../github/index.ts'
import { pull, repository, sha } from '../testing/app-pipeline.ts'
import { exclusionByDetails, exclusionOf } from './checks.ts'

type Policy = AppPipeline['spec']['policy']
const base: Policy = { drafts: true, bots: false, forks: 'Never' }

function reasonOf(
  policy: Partial<Policy>,
  changes: Partial<PullRequest>,
  approvals: readonly PreviewApproval[] = [],
): string | undefined {
  const facts = { policy: { ...base, ...policy }, pipeline: 'uid-pipeline', repository, pull: pull(1, changes), approvals }
  return exclusionOf(facts)?.reason
}

const fork = { headRepository: 9 }

describe('a pull request', () => {
  test.each<[string, Partial<Policy>, Partial<PullRequest>, string | undefined]>([
    ['that is open', {}, {}, undefined],
    ['that is closed', {}, { state: 'closed' }, 'PullRequestClosed'],
    ['into a branch of the list', { baseBranches: ['main', 'release/*'] }, { baseBranch: 'release/1' }, undefined],
    ['into another branch', { baseBranches: ['main', 'release/*'] }, { baseBranch: 'release/1/fix' }, 'BaseBranchExcluded'],
    ['with all labels, in any case', { labels: ['Preview', 'ok'] }, { labels: ['preview', 'OK', 'x'] }, undefined],
    ['without one of the labels', { labels: ['preview', 'ok'] }, { labels: ['preview'] }, 'LabelMissing'],
    ['with an excluded label, in any case', { withoutLabels: ['WIP'] }, { labels: ['wip'] }, 'LabelExcluded'],
    ['that is a draft, where drafts are excluded', { drafts: false }, { draft: true }, 'DraftExcluded'],
    ['that is a draft, where they are not', {}, { draft: true }, undefined],
    ['of a bot', {}, { author: { id: 1, login: 'renovate[bot]', isBot: true } }, 'BotExcluded'],
    ['of a bot, where bots are allowed', { bots: true }, { author: { id: 1, login: 'renovate[bot]', isBot: true } }, undefined],
    ['of one of the authors', { authors: ['Dave'] }, {}, undefined],
    ['of another author', { authors: ['mia'] }, {}, 'AuthorExcluded'],
    ['of a deleted account', { authors: ['mia'] }, { author: undefined }, 'AuthorExcluded'],
    ['whose title asks for none', {}, { skips: true }, 'SkipRequested'],
    ['of a fork, where forks are excluded', {}, fork, 'ForkExcluded'],
    ['of a fork that was deleted', { forks: 'Approved' }, { headRepository: undefined }, 'ForkDeleted'],
    ['of a fork that nobody approved', { forks: 'Approved' }, fork, 'ApprovalMissing'],
    ['of a fork whose author is to be asked about first', { forks: 'Trusted' }, fork, 'ApprovalMissing'],
    [
      'of a fork that the policy excludes anyway is not put up for approval',
      { forks: 'Approved', drafts: false },
      { ...fork, draft: true },
      'DraftExcluded',
    ],
    ['with names that objects have', { labels: ['constructor'], baseBranches: ['__proto__'] }, {}, 'BaseBranchExcluded'],
  ])('%s', (_what, policy, changes, reason) => {
    expect(reasonOf(policy, changes)).toBe(reason)
  })

  const approval = (changes: Partial<PreviewApproval['spec']> = {}): PreviewApproval => ({
    apiVersion: 'v',
    kind: 'PreviewApproval',
    metadata: { name: 'a' },
    spec: {
      pipeline: { name: 'shop', uid: 'uid-pipeline' },
      repository,
      number: 1,
      headCommit: sha(1),
      by: { id: 1, login: 'olivia' },
      via: 'Review',
      ...changes,
    },
  })

  test('of a fork passes with an approval of exactly this AppPipeline, repository, number and commit', () => {
    expect(reasonOf({ forks: 'Approved' }, fork, [approval()])).toBeUndefined()
    for (const other of [{ pipeline: { name: 'shop', uid: 'other' } }, { repository: 8 }, { number: 2 }, { headCommit: sha(2) }])
      expect(reasonOf({ forks: 'Approved' }, fork, [approval(other)])).toBe('ApprovalMissing')
    expect(reasonOf({ forks: 'Never' }, fork, [approval()])).toBe('ForkExcluded')
  })

  test('gets no text of outsiders into a message', () => {
    const hostile = '</script>[x](http://evil)\n- $(reboot)'
    const changes = {
      baseBranch: hostile,
      headBranch: hostile,
      labels: [hostile],
      author: { id: 1, login: hostile, isBot: false },
    }
    for (const policy of [{ baseBranches: ['main'] }, { labels: ['ok'] }, { authors: ['mia'] }]) {
      const facts = { policy: { ...base, ...policy }, pipeline: 'u', repository, pull: pull(1, changes), approvals: [] }
      expect(exclusionOf(facts)?.message).not.toContain('evil')
    }
  })
})

test.each<[string, Policy, { skips: boolean; files: readonly string[] | undefined }, string | undefined]>([
  ['asks for none', base, { skips: true, files: undefined }, 'SkipRequested'],
  ['changes a file of the paths', { ...base, paths: ['api'] }, { skips: false, files: ['web/a', 'api/b'] }, undefined],
  ['changes none', { ...base, paths: ['api'] }, { skips: false, files: ['web/a'] }, 'PathsExcluded'],
  ['changes more files than GitHub lists', { ...base, paths: ['api'] }, { skips: false, files: undefined }, undefined],
])('a commit that %s', (_what, policy, details, reason) => {
  expect(exclusionByDetails({ policy, details })?.reason).toBe(reason)
})
