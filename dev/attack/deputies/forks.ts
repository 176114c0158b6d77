// A pull request from a fork: its code belongs to whoever owns the fork. noah gets read access to globex’s repository, forks
// it, and opens a pull request; nothing of it may be built before a person of globex approves exactly that commit.
import type { Attack } from '../attack.ts'
import { syncAttempt } from './deputies.ts'
import { previewAttempts } from './fork-previews.ts'
import { sharedPullRequest } from './fork-pull-request.ts'

const sources = [
  { what: 'a pull request from his fork', name: 'attack-fork', source: {} },
  { what: 'the merge commit of a pull request from his fork', name: 'attack-fork-merge', source: { mergeCommit: true } },
]

export const forkAttacks: readonly Attack[] = [
  {
    name: 'deputies/forks',
    as: 'noah, who owns a fork and may read the repository, and dave, who may read it, too',
    against: 'globex, whose platform would build a stranger’s code',
    tries:
      'A pull request from a fork is built without approval: by a RemoteSync, by approvals of those who may not write, and by a push right after an approval.',
    expected: ['controller', 'admission', 'schema'],
    peer: 'Coolify and others: previews of forks run for everybody; approvals that hold for whatever is pushed next',
    attempts(world) {
      const withPullRequest = sharedPullRequest(world, sources.length + 1)
      return [
        ...sources.map(({ what, name, source }) => ({
          name: `noah: ${what}`,
          run: () =>
            withPullRequest(({ number }) =>
              syncAttempt(world, name, `RemoteSync of ${what}`, { source: { pullRequest: number, ...source } }).run(),
            ),
        })),
        ...previewAttempts(world, withPullRequest),
      ]
    },
  },
]
