// Facts of AppPipelines for unit tests.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { PullRequest } from '../../../github/index.ts'
import type { Facts, Preview } from '../gather.ts'
import { detailsKey, type KnownPullRequests } from '../pull-requests/known.ts'

export const now = new Date('2026-01-01T12:00:00.000Z')
export const repository = 7

export function pipeline(spec: Partial<AppPipeline['spec']> = {}, status: AppPipeline['status'] = {}): AppPipeline {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'AppPipeline',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-pipeline', generation: 1 },
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      requestedBy: 'github|github.com|1',
      template: {
        application: { chart: 'web' },
        source: 'Head',
        build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
      },
      host: 'pr-{number}-{name}',
      policy: { drafts: true, bots: false, forks: 'Never' },
      limits: { previews: 10 },
      report: false,
      ...spec,
    },
    status: { repository: { id: repository, name: 'acme/shop', requested: 'acme/shop' }, ...status },
  }
}

export const sha = (number: number): string => String(number).padStart(2, '0').repeat(20)

export function pull(number: number, changes: Partial<PullRequest> = {}): PullRequest {
  return {
    number,
    repositoryName: 'acme/shop',
    state: 'open',
    draft: false,
    skips: false,
    headCommit: sha(number),
    headBranch: 'feature',
    headRepository: repository,
    baseCommit: sha(0),
    baseBranch: 'main',
    author: { id: 3, login: 'dave', isBot: false },
    labels: [],
    updatedAt: new Date(now.getTime() - number * 60_000).toISOString(),
    pushedAt: undefined,
    ...changes,
  }
}

/** What exists of the preview of a pull request of this repository. */
export function preview(number: number, of = repository): Preview {
  const metadata = { name: `shop-pr-${number}`, namespace: 'acme', uid: `uid-${number}` }
  const application: Application = { apiVersion: 'v', kind: 'Application', metadata, spec: { chart: 'web' } }
  const remoteSync: RemoteSync = {
    apiVersion: 'v',
    kind: 'RemoteSync',
    metadata,
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      requestedBy: 'github|github.com|1',
      source: { pullRequest: number },
      build: { strategy: 'Buildpacks', timeoutSeconds: 900 },
      application: metadata.name,
    },
  }
  return { number, repository: of, application, remoteSync, services: [] }
}

/** A list, in which every commit was looked at. */
export function known(pulls: readonly PullRequest[], changes: Partial<KnownPullRequests> = {}): KnownPullRequests {
  return {
    repository,
    listedAt: now,
    isCut: false,
    pulls: new Map(pulls.map(one => [one.number, one])),
    confirmed: new Set(),
    missing: new Set(),
    details: new Map(pulls.map(one => [detailsKey(one, false), { skips: false, files: undefined }])),
    tips: new Map(),
    ...changes,
  }
}

export function facts(changes: Partial<Facts> & { readonly existing?: readonly Preview[] } = {}): Facts {
  const { existing = [], ...rest } = changes
  return {
    pipeline: pipeline(),
    now,
    installation: undefined,
    grant: undefined,
    previews: new Map(existing.map(one => [one.number, one])),
    approvals: [],
    classes: new Map(),
    known: undefined,
    ...rest,
  }
}
