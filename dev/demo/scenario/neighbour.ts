// The neighbour of acme: globex, a tenant of the same platform. Its owner gary onboards it and deploys an application of his
// own, with ordinary rights; what he then tries against acme and the platform is in attacks.ts.
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Application } from '../../../src/api/apps/application.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { Browser } from '../browser.ts'
import { type DemoContext, neighbourNamespace } from '../context.ts'
import { gitCredential, mustRun, run } from '../tools.ts'
import { onboardAccount } from './onboard.ts'
import { commandLineLogin, passSignIn } from './sign-in.ts'

const name = 'site'
const repository = 'globex/site'

/** gary signs in, on the pages and for kubectl, and onboards globex unless an earlier run did. */
export async function joinNeighbour(demo: DemoContext): Promise<void> {
  const browser = new Browser({ certificateAuthority: demo.certificateAuthority })
  try {
    await passSignIn(browser, await browser.open(`${demo.tools.issuer}/login`), 'gary')
    await onboardAccount(browser, demo, { name: neighbourNamespace })
  } finally {
    await browser.close()
  }
  await commandLineLogin(demo, demo.people.gary, neighbourNamespace)
}

/** gary pushes the site and deploys it, unless it runs already. Resolves to its image, by digest. */
export async function deployNeighbour(demo: DemoContext): Promise<string> {
  const running = await neighbourImage(demo)
  if (running !== undefined) return running
  await pushSite(demo)
  const documents = manifests.map(manifest => JSON.stringify(manifest)).join('\n---\n')
  await mustRun(demo.people.gary, demo.tools.kubectl, ['apply', '-n', neighbourNamespace, '-f', '-'], { input: documents })
  return waitUntil('the site of globex to run', () => neighbourImage(demo), { timeoutMilliseconds: limits.build })
}

/** The image that the site runs, by digest; undefined until it is available. */
async function neighbourImage({ people, tools }: DemoContext): Promise<string | undefined> {
  const answer = await run(people.gary, tools.kubectl, ['get', 'application', name, '-n', neighbourNamespace, '-o', 'json'])
  if (answer.code !== 0) return undefined
  const { status }: Application = JSON.parse(answer.output)
  const available = status?.conditions?.some(condition => condition.type === 'Available' && condition.status === 'True')
  return available ? status?.image : undefined
}

/** The example application, as gary's own. */
async function pushSite(demo: DemoContext): Promise<void> {
  const { gary } = demo.people
  const folder = join(gary.home, name)
  const environment = gitCredential('gary', demo.personalTokens['gary'] ?? '')
  const git = (args: readonly string[]) => mustRun(gary, 'git', args, { folder, environment })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await git(['clone', '--quiet', `${demo.githubWeb}/${repository}.git`, '.'])
  await cp(join(demo.repository, 'deploy/examples/shop/app'), folder, { recursive: true })
  await git(['add', '--all'])
  const author = ['-c', 'user.name=Gary', '-c', 'user.email=gary@example.test']
  await git([...author, 'commit', '--quiet', '--allow-empty', '-m', 'The site of globex'])
  await git(['push', '--quiet', 'origin', 'HEAD:main'])
}

const manifests: readonly object[] = [
  {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name },
    spec: { processes: [{ name: 'web', port: 3000, healthPath: '/healthz', memory: '128Mi' }] },
  },
  {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'RemoteSync',
    metadata: { name },
    spec: { installation: 'github', repository, source: { branch: 'main' }, build: { timeoutSeconds: 300 }, application: name },
  },
]
