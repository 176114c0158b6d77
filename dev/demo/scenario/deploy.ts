// Second part: a developer pushes, applies two short manifests with kubectl, and the commit is served at a URL; a second push
// changes it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Application } from '../../../src/api/apps/application.ts'
import type { RemoteSync } from '../../../src/api/apps/remote-sync.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../context.ts'
import { pushExample } from '../push.ts'
import { DemoFailure, expectThat, type Step } from '../steps.ts'
import { mustRun, type Person, run } from '../tools.ts'
import { commandLineLogin } from './sign-in.ts'

export function deploySteps(demo: DemoContext): readonly Step[] {
  const { dave } = demo.people
  const kubectl = (args: readonly string[]): Promise<string> => mustRun(dave, demo.tools.kubectl, args)
  return [
    {
      title: 'dave, a member of the team developers, signs in; kubectl authenticates as dave',
      run: async () => {
        await commandLineLogin(demo, dave)
        return await kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}'])
      },
    },
    {
      title: 'dave pushes the shop to GitHub with git',
      run: async () => `commit ${await pushShop(demo, dave, `The little shop, opened ${new Date().toISOString()}`)}`,
    },
    {
      title: 'dave applies deploy/examples/shop with kubectl',
      run: () => kubectl(['apply', '-k', join(demo.repository, 'deploy/examples/shop')]),
    },
    {
      title: 'Sekisho builds the image from exactly that commit and deploys it',
      run: async () => {
        const sync = await deployedSync(demo, dave, 300)
        return `image ${sync.status?.image}`
      },
    },
    {
      title: 'the URL serves that commit',
      run: () => urlAnswers(demo, dave),
    },
    {
      title: 'dave pushes again; the URL serves the new commit',
      run: async () => {
        const pushedAt = performance.now()
        await pushShop(demo, dave, `The little shop, repainted ${new Date().toISOString()}`)
        await deployedSync(demo, dave, 180)
        const answer = await urlAnswers(demo, dave)
        return `${answer}\npush to URL took ${((performance.now() - pushedAt) / 1000).toFixed(1)} s`
      },
    },
    {
      title: 'the RemoteSync reports how long each phase of that push took',
      run: async () => phaseTable(await readSync(demo, dave)),
    },
  ]
}

/** The files of the shop that differ from the example when its page has this title. */
export async function shopFiles(demo: DemoContext, title: string): Promise<Readonly<Record<string, string>>> {
  const server = await readFile(join(demo.repository, 'deploy/examples/shop/app/server.js'), 'utf8')
  return { 'server.js': server.replace(/const title = '.*'/, `const title = '${title}'`) }
}

export async function pushShop(demo: DemoContext, dave: Person, title: string): Promise<string> {
  const files = await shopFiles(demo, title)
  const sha = await pushExample(demo, dave, { name: 'shop', files, message: title })
  demo.pushed.push(sha)
  demo.title = title
  return sha
}

export async function readSync(demo: DemoContext, who: Person, name = applicationName): Promise<RemoteSync> {
  return JSON.parse(await mustRun(who, demo.tools.kubectl, ['get', 'remotesync', name, '-n', tenantNamespace, '-o', 'json']))
}

/** Waits until the last pushed commit of the shop is deployed; throws DemoFailure as soon as its build fails. */
export function deployedSync(demo: DemoContext, dave: Person, seconds: number): Promise<RemoteSync> {
  return untilDeployed(demo, dave, { name: applicationName, commit: demo.pushed.at(-1), seconds })
}

/** As `deployedSync`, for any RemoteSync and commit. */
export function untilDeployed(
  demo: DemoContext,
  who: Person,
  { name, commit, seconds }: { readonly name: string; readonly commit: string | undefined; readonly seconds: number },
): Promise<RemoteSync> {
  return waitUntil(
    `commit ${commit} of ${name} to be deployed`,
    async () => {
      const sync = await readSync(demo, who, name)
      const ready = sync.status?.conditions?.find(condition => condition.type === 'Ready')
      if (sync.status?.failedCommit === commit) throw new DemoFailure(`the build failed: ${ready?.reason}: ${ready?.message}`)
      if (sync.status?.imageCommit === commit && ready?.status === 'True') return sync
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: seconds * 1000 },
  )
}

/**
 * Requires that the Application reports the last pushed commit, and that its URL serves what only that commit's source has: the
 * title of the page. The commit that `/version` returns comes from the platform and would be the same with a stale image.
 */
export async function urlAnswers(demo: DemoContext, dave: Person): Promise<string> {
  const wanted = demo.pushed.at(-1)
  const application: Application = JSON.parse(
    await mustRun(dave, demo.tools.kubectl, ['get', 'application', applicationName, '-n', tenantNamespace, '-o', 'json']),
  )
  const url = application.status?.url
  expectThat(url !== undefined, 'the Application has no URL')
  expectThat(
    application.status?.commit === wanted,
    `the Application reports commit ${application.status?.commit} instead of ${wanted}`,
  )
  await untilContains(dave, `${url}/version`, wanted ?? '')
  await untilContains(dave, `${url}/`, `<title>${demo.title}</title>`)
  return `${url}/ → 200 “${demo.title}”, commit ${wanted}`
}

/** Polls the address until it answers with the status 200 and this text; resolves to the body. */
export function untilContains(who: Person, address: string, text: string): Promise<string> {
  return waitUntil(`${address} to return ${text}`, async () => {
    const curl = ['--silent', '--show-error', '--max-time', '5', '--write-out', '\n%{http_code}', address]
    const result = await run(who, 'curl', curl)
    if (result.output.endsWith('\n200') && result.output.includes(text)) return result.output.slice(0, -'\n200'.length)
    throw new Error(`${result.output} ${result.errors}`.trim().slice(0, 500))
  })
}

export const ourPhases: readonly (readonly [string, string, string])[] = [
  ['webhook to commit known', 'signalledAt', 'resolvedAt'],
  ['commit fetched to the source store', 'resolvedAt', 'fetchedAt'],
  ['Build created', 'fetchedAt', 'buildCreatedAt'],
  ['Application updated', 'builtAt', 'deployedAt'],
]
const others: readonly (readonly [string, string, string])[] = [
  ['build', 'buildCreatedAt', 'builtAt'],
  ['rollout: apply, image pull, container start, ready', 'deployedAt', 'availableAt'],
]

/** The time of each phase from push to URL. "Ours" is Sekisho's share: all but build, image pull and container start. */
export function phaseTable(sync: RemoteSync): string {
  const phases: Readonly<Record<string, string | undefined>> = sync.status?.phases ?? {}
  const seconds = (from: string, to: string): number => {
    const [start, end] = [phases[from], phases[to]]
    expectThat(start !== undefined && end !== undefined, `.status.phases lacks ${start === undefined ? from : to}`)
    return (Date.parse(end) - Date.parse(start)) / 1000
  }
  const line = ([name, from, to]: readonly [string, string, string], mark: string): string =>
    `${mark} ${name.padEnd(52)} ${seconds(from, to).toFixed(3).padStart(8)} s`
  const share = ourPhases.reduce((sum, [, from, to]) => sum + seconds(from, to), 0)
  return [
    ...ourPhases.map(row => line(row, 'ours ')),
    ...others.map(row => line(row, 'other')),
    `our share ${share.toFixed(3)} s of ${seconds('signalledAt', 'availableAt').toFixed(1)} s`,
  ].join('\n')
}
