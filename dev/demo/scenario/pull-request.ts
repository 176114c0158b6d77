// One pull request of the demo, from its opening to its end, and what GitHub and the platform show about it.
import type { AppPipeline } from '../../../src/api/apps/app-pipeline.ts'
import { defined } from '../../../src/lib/json/defined.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type DemoContext, tenantNamespace } from '../context.ts'
import { onGitHub } from '../github.ts'
import { pushExample } from '../push.ts'
import { mustRun, type Person } from '../tools.ts'
import { shopFiles } from './deploy.ts'

/** Of the AppPipeline, and of its repository in the organization. */
export const pipelineName = 'shop'

const repositoryOf = (pipeline: string) => `/repos/${tenantNamespace}/${pipeline}` as const

export type PreviewRow = NonNullable<NonNullable<AppPipeline['status']>['previews']>[number]

/** Where the commits of a pull request come from: a branch of the repository, or of a fork. */
export type Origin = { readonly who: Person; readonly branch: string; readonly fork?: string }

export type PullRequest = ReturnType<typeof pullRequestOf>

/** Closes pull requests that an earlier run left open from there. */
export async function closeEarlier(demo: DemoContext, { who, branch, fork }: Origin, pipeline = pipelineName): Promise<void> {
  const path = repositoryOf(pipeline)
  const owner = fork?.split('/')[0] ?? tenantNamespace
  const query = `state=open&head=${encodeURIComponent(`${owner}:${branch}`)}`
  const left = await onGitHub<readonly { readonly number: number }[]>(demo, who.login, `GET ${path}/pulls?${query}`)
  for (const { number } of left) await onGitHub(demo, 'dave', `PATCH ${path}/pulls/${number}`, { state: 'closed' })
}

/** Pushes the shop with this title on its page to the branch of the origin; resolves to the commit. */
export function pushTitle(demo: DemoContext, { who, branch, fork }: Origin, title: string): Promise<string> {
  return shopFiles(demo, title).then(files =>
    pushExample(demo, who, { name: 'shop', files, message: title, branch, ...defined({ fork }) }),
  )
}

/** Opens a pull request into main; resolves to its number. */
export async function openPullRequest(
  demo: DemoContext,
  { who, branch, fork }: Origin,
  title: string,
  pipeline = pipelineName,
): Promise<number> {
  const head = fork === undefined ? branch : `${fork.split('/')[0]}:${branch}`
  const body = { title, head, base: 'main' }
  return (await onGitHub<{ readonly number: number }>(demo, who.login, `POST ${repositoryOf(pipeline)}/pulls`, body)).number
}

/** What is known of the pull request with this number. */
export function pullRequestOf(demo: DemoContext, number: number, pipeline = pipelineName) {
  const { dave } = demo.people
  const path = repositoryOf(pipeline)
  const row = async (): Promise<PreviewRow | undefined> => {
    const args = ['get', 'apppipeline', pipeline, '-n', tenantNamespace, '-o', 'json']
    const found: AppPipeline = JSON.parse(await mustRun(dave, demo.tools.kubectl, args))
    return found.status?.previews?.find(one => one.number === number)
  }
  const comments = async (): Promise<readonly string[]> =>
    (await onGitHub<readonly { readonly body: string }[]>(demo, 'dave', `GET ${path}/issues/${number}/comments`)).map(
      ({ body }) => body,
    )
  return {
    number,
    row,
    comments,
    /** Awaits the row of the newest commit in this state. */
    untilState: (state: PreviewRow['state'], commit: string, seconds = 120): Promise<PreviewRow> =>
      waitUntil(
        `pull request ${number} to be ${state} at ${commit}`,
        async () => {
          const found = await row()
          if (found?.state === state && found.headCommit === commit) return found
          throw new Error(`${found?.state} ${found?.reason}: ${found?.message}`)
        },
        { timeoutMilliseconds: seconds * 1000 },
      ),
    /** Awaits a comment of the platform with all of these texts; there must never be two. */
    untilComment: (...texts: readonly string[]): Promise<string> =>
      waitUntil(
        `a comment with ${texts.join(', ')} on pull request ${number}`,
        async () => {
          const ours = (await comments()).filter(body => body.includes('**Preview `'))
          if (ours.length > 1) throw new Error(`there are ${ours.length} comments`)
          return ours.find(body => texts.every(text => body.includes(text)))
        },
        { timeoutMilliseconds: limits.rollout },
      ),
    /** The state of the newest commit status of the platform. */
    statusOf: async (commit: string): Promise<string | undefined> =>
      (
        await onGitHub<readonly { readonly state: string; readonly context: string }[]>(
          demo,
          'dave',
          `GET ${path}/commits/${commit}/statuses`,
        )
      ).find(({ context }) => context === `sekisho/preview/${pipeline}`)?.state,
    /** The newest state of the deployment of this commit, and where it leads. */
    deploymentOf: async (commit: string): Promise<{ readonly state: string; readonly environment_url?: string } | undefined> => {
      const [deployment] = await onGitHub<readonly { readonly id: number }[]>(
        demo,
        'dave',
        `GET ${path}/deployments?sha=${commit}&environment=${encodeURIComponent(`preview/${pipeline}`)}`,
      )
      if (deployment === undefined) return undefined
      const [newest] = await onGitHub<readonly { readonly state: string; readonly environment_url?: string }[]>(
        demo,
        'dave',
        `GET ${path}/deployments/${deployment.id}/statuses`,
      )
      return newest
    },
    comment: (login: string, body: string) => onGitHub(demo, login, `POST ${path}/issues/${number}/comments`, { body }),
    merge: async (): Promise<string> =>
      (await onGitHub<{ readonly sha: string }>(demo, 'dave', `PUT ${path}/pulls/${number}/merge`, { merge_method: 'merge' }))
        .sha,
    close: () => onGitHub(demo, 'dave', `PATCH ${path}/pulls/${number}`, { state: 'closed' }),
  }
}

/**
 * The preview that this AppPipeline had of pull request `number`; `approved`: the commits of a fork that a person let run;
 * `images`: what the registry still has of it, absent where the registry cannot be asked.
 */
type EndedPreview = {
  readonly pipeline: string
  readonly number: number
  readonly approved?: readonly string[]
  readonly images?: (() => Promise<readonly string[]>) | undefined
}

type ApprovedCommit = { readonly pipeline: { readonly name: string }; readonly number: number; readonly headCommit: string }
type Approvals = { readonly items: readonly { readonly spec: ApprovedCommit }[] }
type Builds = {
  readonly builds: readonly { readonly name: string; readonly outcome: string | null }[]
  readonly queued: readonly { readonly remoteSync: string }[]
}

/**
 * Awaits that Application, RemoteSync, grant and pods are gone, that nothing is built or waits to be, and that the registry has
 * no image and no cache of it; rejects with what is left. Resolves to what it could not ask, as text. All but the registry is
 * asked as dave.
 */
export async function untilNothingIsLeft(demo: DemoContext, ended: EndedPreview): Promise<string> {
  const { pipeline, number, approved = [], images } = ended
  const name = `${pipeline}-pr-${number}`
  const { dave } = demo.people
  const get = (args: readonly string[]) => mustRun(dave, demo.tools.kubectl, ['get', ...args, '-n', tenantNamespace])
  await waitUntil(
    `nothing of ${name} to be left`,
    async () => {
      const objects = await get([
        `application/${name}`,
        `remotesync/${name}`,
        `repositorygrant/remotesync-${name}`,
        '--ignore-not-found',
        '-o',
        'name',
      ])
      const pods = await get(['pods', '-l', `sekisho.dev/application=${name}`, '-o', 'name'])
      const builds = await unfinishedBuilds(demo, name)
      const left = [objects, pods, ...builds].filter(text => text !== '')
      if (left.length === 0) return true
      throw new Error(left.join(', '))
    },
    { timeoutMilliseconds: limits.rollout },
  )
  // They end ten minutes after they were made, or later: until then only what a person approved may be there.
  const { items }: Approvals = JSON.parse(await get(['previewapprovals', '-o', 'json']))
  const own = items.filter(({ spec }) => spec.pipeline.name === pipeline && spec.number === number)
  const others = own.filter(({ spec }) => !approved.includes(spec.headCommit))
  if (others.length > 0) throw new Error(`${name} has approvals of ${JSON.stringify(others)}`)
  if (images === undefined) return '; the registry was not asked: SEKISHO_UP_REGISTRY is not set'
  // Images go when the pods have ended, five seconds after the last look that finds them in use
  // (src/services/image-cleanup/pushes/ended-previews.ts).
  await waitUntil(
    `no image and no cache of ${name} to be left in the registry`,
    async () => {
      const left = await images()
      if (left.length === 0) return true
      throw new Error(left.join(', '))
    },
    { timeoutMilliseconds: limits.build },
  )
  return ', nor in the registry'
}

/** Logs of builds are kept after them: only what runs or waits counts. */
async function unfinishedBuilds(demo: DemoContext, name: string): Promise<readonly string[]> {
  const args = ['builds', 'list', '--remote-sync', name, '-n', tenantNamespace, '-o', 'json']
  const { builds, queued }: Builds = JSON.parse(await mustRun(demo.people.dave, demo.tools.sekisho, args))
  const running = builds.filter(({ outcome }) => outcome === null)
  return [
    ...running.map(build => `build ${build.name}`),
    ...queued.filter(one => one.remoteSync === name).map(() => 'a queued build'),
  ]
}
