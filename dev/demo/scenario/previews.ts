// Fourth part: previews. A pull request becomes a URL, a push replaces it, one from a fork waits for an approval of exactly its
// commit, and the merge takes the image of the preview without another build.
import { join } from 'node:path'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { DemoContext } from '../context.ts'
import { tenantNamespace } from '../context.ts'
import { askGitHub, onGitHub } from '../github.ts'
import type { PreviewImages } from '../preview-images.ts'
import { expectThat, type Step } from '../steps.ts'
import { mustRun } from '../tools.ts'
import { readSync, untilContains, urlAnswers } from './deploy.ts'
import {
  closeEarlier,
  type Origin,
  openPullRequest,
  type PullRequest,
  pipelineName,
  pullRequestOf,
  pushTitle,
  untilNothingIsLeft,
} from './pull-request.ts'

/** `images`: absent where the registry cannot be asked. */
export function previewSteps(demo: DemoContext, images: PreviewImages | undefined): readonly Step[] {
  const { dave, noah } = demo.people
  const own: Origin = { who: dave, branch: 'demo-preview' }
  const forked: Origin = { who: noah, branch: 'demo-fork', fork: 'noah/shop-fork' }
  let pull: PullRequest
  let commit = ''
  return [
    {
      title: 'dave applies an AppPipeline and opens a pull request: it gets a URL, a comment, a status and a deployment',
      run: async () => {
        await closeEarlier(demo, own)
        await mustRun(dave, demo.tools.kubectl, ['apply', '-f', join(demo.repository, 'deploy/examples/previews')])
        commit = await pushTitle(demo, own, `A blue roof, ${new Date().toISOString()}`)
        pull = pullRequestOf(demo, await openPullRequest(demo, own, 'A blue roof'))
        return shown(demo, pull, commit, 'A blue roof')
      },
    },
    {
      title: 'dave pushes to the pull request: the same URL serves the new commit, the same comment says so',
      run: async () => {
        commit = await pushTitle(demo, own, `A green roof, ${new Date().toISOString()}`)
        return shown(demo, pull, commit, 'A green roof')
      },
    },
    {
      title: 'noah opens one from his fork: nothing of it is built until dave approves that commit; the next push waits again',
      run: () => forkWaits(demo, images, forked),
    },
    {
      title: 'dave merges: main takes the image of the preview without a build, and nothing of the preview is left',
      run: () => promoted(demo, images, { pull, commit }),
    },
  ]
}

/** Requires that URL, comment, commit status and deployment are about this commit. */
async function shown(demo: DemoContext, pull: PullRequest, commit: string, title: string): Promise<string> {
  const row = await pull.untilState('Running', commit, 240)
  expectThat(row.url !== undefined, 'the preview has no URL')
  await untilContains(demo.people.dave, `${row.url}/`, `<title>${title}`)
  await pull.untilComment(row.url, commit)
  await waitUntil(`the status of ${commit} to be success`, async () => (await pull.statusOf(commit)) === 'success', {
    timeoutMilliseconds: limits.rollout,
  })
  const deployment = await waitUntil(
    `the deployment of ${commit} to be a success`,
    async () => {
      const found = await pull.deploymentOf(commit)
      return found?.state === 'success' ? found : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  expectThat(deployment.environment_url?.startsWith(row.url) === true, `the deployment leads to ${deployment.environment_url}`)
  return `#${pull.number}: ${row.url} → 200 “${title}…”; one comment, status success, deployment success`
}

async function forkWaits(demo: DemoContext, images: PreviewImages | undefined, origin: Origin): Promise<string> {
  const repository = `${tenantNamespace}/shop`
  await onGitHub(demo, 'olivia', `PUT /repos/${repository}/collaborators/noah`, { permission: 'pull' })
  try {
    await closeEarlier(demo, origin)
    await askGitHub(demo, 'noah', `DELETE /repos/${origin.fork}`)
    await onGitHub(demo, 'noah', `POST /repos/${repository}/forks`, { name: origin.fork?.split('/')[1] })
    const first = await pushTitle(demo, origin, 'A roof of noah')
    const pull = pullRequestOf(demo, await openPullRequest(demo, origin, 'A roof of noah'))
    const waiting = await pull.untilState('WaitingForApproval', first)
    expectThat(waiting.application === undefined, `there is an Application before the approval: ${waiting.application}`)
    await pull.comment('noah', `/sekisho approve ${first}`)
    await pull.comment('dave', `/sekisho approve ${first}`)
    const running = await pull.untilState('Running', first, 240)
    expectThat(running.url?.includes('://fork-') === true, `the host does not say that it is a fork: ${running.url}`)
    await untilContains(demo.people.dave, `${running.url}/`, '<title>A roof of noah</title>')
    const approvals = await mustRun(demo.people.dave, demo.tools.kubectl, ['get', 'previewapprovals', '-o', 'wide'])
    expectThat(approvals.includes('dave') && !/\bnoah\b/.test(approvals), `dave did not approve it: ${approvals}`)
    const name = `${pipelineName}-pr-${pull.number}`
    const built = (await images?.built(name)) ?? []
    const second = await pushTitle(demo, origin, 'Another roof of noah')
    await pull.untilState('WaitingForApproval', second)
    await pull.close()
    const registry = await untilNothingIsLeft(demo, {
      ...{ pipeline: pipelineName, number: pull.number, approved: [first] },
      images: images && (() => images.left(name, built)),
    })
    return `#${pull.number}: ${first.slice(0, 8)} waited, dave approved it, ${running.url} served it; ${second.slice(0, 8)} waited again, and after its end nothing is left${registry}`
  } finally {
    await askGitHub(demo, 'olivia', `DELETE /repos/${repository}/collaborators/noah`)
  }
}

type Merged = { readonly pull: PullRequest; readonly commit: string }

async function promoted(demo: DemoContext, images: PreviewImages | undefined, { pull, commit }: Merged): Promise<string> {
  const { dave } = demo.people
  const name = `${pipelineName}-pr-${pull.number}`
  const preview = await readSync(demo, dave, name)
  const built = (await images?.built(name)) ?? []
  const merged = await pull.merge()
  const sync = await waitUntil(
    `main to run ${merged}`,
    async () => {
      const found = await readSync(demo, dave)
      const ready = found.status?.conditions?.find(({ type }) => type === 'Ready')
      if (found.status?.commit === merged && ready?.status === 'True') return found
      throw new Error(`${found.status?.commit} ${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: limits.rollout },
  )
  expectThat(preview.status?.imageCommit === commit, `the preview ran ${preview.status?.imageCommit}`)
  expectThat(sync.status?.image === preview.status?.image, `main runs ${sync.status?.image}, not the image of the preview`)
  demo.pushed.push(sync.status?.imageCommit ?? '')
  demo.title = (await untilContains(dave, await urlOf(demo), '<title>A green roof')).match(/<title>(.*)<\/title>/)?.[1] ?? ''
  await urlAnswers(demo, dave)
  const kept = sync.status?.image?.split('@')[1]
  const registry = await untilNothingIsLeft(demo, {
    ...{ pipeline: pipelineName, number: pull.number },
    images: images && (() => images.left(name, built, kept)),
  })
  await pull.untilComment('destroyed')
  const deployment = await waitUntil(
    'the deployment to be inactive',
    async () => {
      const found = await pull.deploymentOf(commit)
      return found?.state === 'inactive' ? found : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  return `main runs ${sync.status?.image} of commit ${commit.slice(0, 8)}; the comment says destroyed, the deployment is ${deployment.state}; nothing else is left${registry}`
}

async function urlOf(demo: DemoContext): Promise<string> {
  const { dave } = demo.people
  return `${await mustRun(dave, demo.tools.kubectl, ['get', 'application', 'shop', '-o', 'jsonpath={.status.url}'])}/`
}
