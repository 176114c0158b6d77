// The JSON of check suites and check runs.
import type { Commit } from '../git/commit.ts'
import type { CheckRun, CheckSuite } from '../state/checks.ts'
import { appById, fullName, repositoryById } from '../state/github-state.ts'
import type { PullRequest, Repository } from '../state/repositories.ts'
import { integration } from './app.ts'
import { minimalRepository } from './repository.ts'
import { nodeId, type View } from './view.ts'

function urlOf({ links, state }: View, repository: Repository): string {
  return links.api(`/repos/${fullName(state, repository)}`)
}

/** OpenAPI `pull-request-minimal` of the open pull requests with this head. */
function pullRequestsWith(view: View, repository: Repository, sha: string) {
  const end = (repositoryId: number, branch: { readonly ref: string; readonly sha: string }) => {
    const from = repositoryById(view.state, repositoryId)
    const url = from ? urlOf(view, from) : view.links.api(`/repositories/${repositoryId}`)
    return { ref: branch.ref, sha: branch.sha, repo: { id: repositoryId, url, name: from?.name ?? 'unknown' } }
  }
  const show = (pull: PullRequest) => ({
    id: pull.id,
    number: pull.number,
    url: `${urlOf(view, repository)}/pulls/${pull.number}`,
    head: end(pull.head.repositoryId, pull.head),
    base: end(repository.id, pull.base),
  })
  return view.state.pullRequests
    .filter(one => one.repositoryId === repository.id && one.state === 'open' && one.head.sha === sha)
    .map(show)
}

function suiteOf({ state }: View, run: CheckRun): CheckSuite {
  const suite = state.checkSuites.find(one => one.id === run.suiteId)
  if (!suite) throw new Error(`check run ${run.id} belongs to suite ${run.suiteId}, which does not exist`)
  return suite
}

function appOf(view: View, appId: number) {
  const app = appById(view.state, appId)
  return app ? integration(view, app) : null
}

/** OpenAPI `check-run`. */
export function checkRunView(view: View, repository: Repository, run: CheckRun) {
  const suite = suiteOf(view, run)
  const url = `${urlOf(view, repository)}/check-runs/${run.id}`
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CheckRun', run.id),
    head_sha: suite.headSha,
    external_id: run.externalId ?? '',
    url,
    html_url: view.links.web(`/${fullName(view.state, repository)}/runs/${run.id}`),
    details_url: run.detailsUrl ?? view.links.web(`/${fullName(view.state, repository)}/runs/${run.id}`),
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: 0,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: suite.id },
    app: appOf(view, suite.appId),
    pull_requests: pullRequestsWith(view, repository, suite.headSha),
  }
}

/** Status and conclusion of a suite: as far as its slowest run and as good as its worst. */
export function suiteState(runs: readonly CheckRun[]): Pick<CheckRun, 'status' | 'conclusion'> {
  if (runs.length === 0) return { status: 'queued', conclusion: null }
  if (runs.some(one => one.status !== 'completed')) {
    return { status: runs.some(one => one.status === 'in_progress') ? 'in_progress' : 'queued', conclusion: null }
  }
  const worstFirst = ['action_required', 'timed_out', 'failure', 'cancelled', 'success', 'neutral', 'skipped'] as const
  return { status: 'completed', conclusion: worstFirst.find(word => runs.some(one => one.conclusion === word)) ?? null }
}

/** OpenAPI `check-suite`; `commit` is its head. */
export function checkSuiteView(view: View, repository: Repository, suite: CheckSuite, commit: Commit) {
  const runs = view.state.checkRuns.filter(one => one.suiteId === suite.id)
  const url = `${urlOf(view, repository)}/check-suites/${suite.id}`
  return {
    id: suite.id,
    node_id: nodeId('CheckSuite', suite.id),
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    ...suiteState(runs),
    url,
    before: suite.before,
    after: suite.headSha,
    pull_requests: pullRequestsWith(view, repository, suite.headSha),
    app: appOf(view, suite.appId),
    created_at: suite.createdAt,
    updated_at: suite.updatedAt,
    rerequestable: true,
    runs_rerequestable: true,
    latest_check_runs_count: runs.length,
    check_runs_url: `${url}/check-runs`,
    head_commit: {
      id: commit.sha,
      tree_id: commit.treeSha,
      message: commit.message,
      timestamp: commit.committer.date,
      author: { name: commit.author.name, email: commit.author.email },
      committer: { name: commit.committer.name, email: commit.committer.email },
    },
    repository: minimalRepository(view, repository),
  }
}
