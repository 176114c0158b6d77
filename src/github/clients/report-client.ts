// The client of GitHub for what the platform writes about commits and pull requests: comments, commit statuses, deployments and
// their statuses. A write is sent once: whether one without an answer arrived is looked up by the caller, because a repeated
// one would be seen twice. Repositories are named by id, as in repository-client.ts. It decides nothing about when or what to
// write.
// Source: https://docs.github.com/en/rest/issues/comments , …/rest/commits/statuses , …/rest/deployments
import { isAppError } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { type Answer, integerAt, listOf, optionalTextAt, recordOf, textAt } from '../transport/answer.ts'
import { createTokenRequester, type TokenClientDeps } from '../transport/token-requester.ts'

/** As GitHub shows it on a commit. `description` has at most 140 characters. */
export type CommitStatusReport = {
  readonly state: 'error' | 'failure' | 'pending' | 'success'
  readonly context: string
  readonly description: string
  readonly targetUrl: string
}

/** A deployment of one commit to an environment. */
export type DeploymentReport = {
  readonly commit: string
  readonly environment: string
  /** It ends with its pull request: GitHub does not expect it to stay, and shows it as destroyed when it is inactive. */
  readonly isTransient: boolean
  readonly description: string
  /** What is deployed, of several things in one environment: GitHub looks for deployments by it. At most 128 characters. */
  readonly task: string
  /** Finds the deployment again. */
  readonly marker: string
}

type SoughtDeployment = Pick<DeploymentReport, 'commit' | 'environment' | 'task' | 'marker'>

type DeploymentStatusReport = {
  readonly state: 'failure' | 'in_progress' | 'inactive' | 'success'
  readonly description: string
  readonly environmentUrl: string | undefined
  readonly logUrl: string
}

/**
 * `endsOthers`: a success makes earlier deployments to the environment inactive, if they are neither transient nor to
 * production.
 */
export type DeploymentStatusWrite = DeploymentStatusReport & { readonly endsOthers: boolean }

/** What stands on GitHub: its state may be one that the platform never writes. */
type Shown<Report extends { readonly state: string }> = Omit<Report, 'state'> & { readonly state: string }

/** All methods throw AppError: see failure.ts for codes and reasons. Only what this App wrote is ever found. */
export type ReportClient = {
  /** The id of the first comment whose text begins with the marker; undefined when there is none. */
  readonly findComment: (repositoryId: number, pullRequest: number, marker: string) => Promise<number | undefined>
  /** Resolves to the id. */
  readonly createComment: (repositoryId: number, pullRequest: number, body: string) => Promise<number>
  /** False when there is no such comment any more. */
  readonly editComment: (repositoryId: number, comment: number, body: string) => Promise<boolean>
  /** The id of the newest deployment of that commit, environment, task and marker. */
  readonly findDeployment: (repositoryId: number, deployment: SoughtDeployment) => Promise<number | undefined>
  /** Resolves to the id. GitHub neither merges anything into the commit nor waits for other statuses. */
  readonly createDeployment: (repositoryId: number, deployment: DeploymentReport) => Promise<number>
  /** The newest status of the deployment; undefined when there is none, or no such deployment. */
  readonly findDeploymentStatus: (repositoryId: number, deployment: number) => Promise<Shown<DeploymentStatusReport> | undefined>
  /** False when there is no such deployment any more. */
  readonly createDeploymentStatus: (repositoryId: number, deployment: number, status: DeploymentStatusWrite) => Promise<boolean>
  /** The newest status of the commit in this context; undefined when there is none, or no such commit. */
  readonly findCommitStatus: (
    repositoryId: number,
    commit: string,
    context: string,
  ) => Promise<Shown<CommitStatusReport> | undefined>
  readonly createCommitStatus: (repositoryId: number, commit: string, status: CommitStatusReport) => Promise<void>
}

const root = '/repositories/{repository_id}'
/** A comment has up to 65,536 characters of up to four bytes: so many fit into the largest answer that is read. */
const commentsPerPage = 30
/** Anybody can write comments: the first 600 are searched. Ours is written when the pull request is opened. */
const maxCommentPages = 20

/** `appId`: whose comments and deployments count. */
export function createReportClient(deps: TokenClientDeps & { readonly appId: number }): ReportClient {
  const requester = createTokenRequester(deps, { fresh: true })
  const read = async (path: string, parameters: Readonly<Record<string, string | number>>): Promise<unknown> =>
    (await requester.request(`GET ${root}${path}`, parameters)).data
  const write = async (route: string, parameters: Readonly<Record<string, unknown>>): Promise<Answer> => {
    const [method = '', path = ''] = route.split(' ')
    const { data } = await requester.request(`${method} ${root}${path}`, { ...parameters, request: { retries: 0 } })
    return recordOf(data, route)
  }
  const isOwn = (item: Answer): boolean => {
    const via = item['performed_via_github_app']
    return isJsonObject(via) && via['id'] === deps.appId
  }

  return {
    async findComment(repositoryId, pullRequest, marker) {
      for (let page = 1; page <= maxCommentPages; page++) {
        const parameters = { repository_id: repositoryId, issue_number: pullRequest, per_page: commentsPerPage, page }
        const comments = listOf(await read('/issues/{issue_number}/comments', parameters), 'comments')
        const own = comments.map(item => recordOf(item, 'comment')).filter(isOwn)
        const found = own.find(item => optionalTextAt(item, 'body', 'comment')?.startsWith(marker))
        if (found !== undefined) return integerAt(found, 'id', 'comment')
        if (comments.length < commentsPerPage) return undefined
      }
      return undefined
    },
    async createComment(repositoryId, pullRequest, body) {
      const parameters = { repository_id: repositoryId, issue_number: pullRequest, body }
      return integerAt(await write('POST /issues/{issue_number}/comments', parameters), 'id', 'comment')
    },
    editComment: (repositoryId, comment, body) =>
      unlessGone(() => write('PATCH /issues/comments/{comment_id}', { repository_id: repositoryId, comment_id: comment, body })),
    async findDeployment(repositoryId, { commit, environment, task, marker }) {
      const parameters = { repository_id: repositoryId, sha: commit, environment, task, per_page: 100 }
      const found = listOf(await read('/deployments', parameters), 'deployments')
        .map(item => recordOf(item, 'deployment'))
        .find(item => isOwn(item) && isJsonObject(item['payload']) && item['payload']['sekisho'] === marker)
      return found === undefined ? undefined : integerAt(found, 'id', 'deployment')
    },
    async createDeployment(repositoryId, { commit, environment, isTransient, description, task, marker }) {
      const answer = await write('POST /deployments', {
        ...{ repository_id: repositoryId, ref: commit, task, environment, description },
        ...{ auto_merge: false, required_contexts: [], transient_environment: isTransient },
        ...(isTransient ? { production_environment: false } : {}),
        payload: { sekisho: marker },
      })
      return integerAt(answer, 'id', 'deployment')
    },
    async findDeploymentStatus(repositoryId, deployment) {
      const parameters = { repository_id: repositoryId, deployment_id: deployment, per_page: 1 }
      const [newest] = listOf(await orNone(read('/deployments/{deployment_id}/statuses', parameters)), 'statuses')
      if (newest === undefined) return undefined
      const item = recordOf(newest, 'deployment status')
      const text = (field: string): string => optionalTextAt(item, field, 'deployment status') ?? ''
      return {
        state: textAt(item, 'state', 'deployment status'),
        description: text('description'),
        environmentUrl: text('environment_url') || undefined,
        logUrl: text('log_url'),
      }
    },
    createDeploymentStatus: (repositoryId, deployment, { state, description, environmentUrl, logUrl, endsOthers }) =>
      unlessGone(() =>
        write('POST /deployments/{deployment_id}/statuses', {
          ...{ repository_id: repositoryId, deployment_id: deployment, state, description, log_url: logUrl },
          auto_inactive: endsOthers,
          ...defined({ environment_url: environmentUrl }),
        }),
      ),
    async findCommitStatus(repositoryId, commit, context) {
      const parameters = { repository_id: repositoryId, commit_sha: commit, per_page: 100 }
      const newest = listOf(await orNone(read('/commits/{commit_sha}/statuses', parameters)), 'statuses')
        .map(item => recordOf(item, 'commit status'))
        .find(item => textAt(item, 'context', 'commit status') === context)
      if (newest === undefined) return undefined
      const text = (field: string): string => optionalTextAt(newest, field, 'commit status') ?? ''
      const state = textAt(newest, 'state', 'commit status')
      return { state, context, description: text('description'), targetUrl: text('target_url') }
    },
    async createCommitStatus(repositoryId, commit, { state, context, description, targetUrl }) {
      const parameters = { repository_id: repositoryId, commit_sha: commit, state, context, description, target_url: targetUrl }
      await write('POST /statuses/{commit_sha}', parameters)
    },
  }
}

async function unlessGone(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (isAppError(error, 'not_found')) return false
    throw error
  }
}

async function orNone(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (isAppError(error, 'not_found')) return []
    throw error
  }
}
