// The GitHub of the local platform: the emulator as a supervised process, and the credentials of its App, which only the owner
// knows.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { devProcessFolders } from '../cluster/node/layout.ts'
import { ensureRunning, hasEnded } from '../cluster/processes/supervise.ts'
import type { Progress } from '../cluster/progress.ts'
import { type ClusterSettings, devClusterFolder } from '../cluster/settings.ts'

export const githubHost = 'github.localhost'
const appSlug = 'sekisho-dev'
export const githubPort = 4000

export type LocalGitHub = {
  readonly web: string
  readonly api: string
  readonly appId: number
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookSecret: string
  readonly privateKey: string
  /** Personal access tokens by login, for `git push`. */
  readonly personalTokens: Readonly<Record<string, string>>
}

export function githubFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, 'github')
}

/** Starts the emulator unless it runs already; resolves when it answers. */
export async function ensureGitHub(settings: ClusterSettings, progress: Progress): Promise<LocalGitHub> {
  const folders = devProcessFolders(settings)
  const web = `http://${settings.nodeAddress}:${githubPort}`
  const state = githubFolder(settings)
  const outcome = await ensureRunning(
    {
      name: 'github',
      path: process.execPath,
      args: [
        join(settings.repository, 'dev/github/main.ts'),
        'start',
        ...['--state', state, '--address', settings.nodeAddress, '--port', String(githubPort)],
        ...['--webhook-url', `${settings.issuerUrl}/webhooks/github`],
        ...['--webhook-ca', join(devClusterFolder(settings), 'pki/ca.crt')],
        ...['--callback-url', `${settings.issuerUrl}/login/callback`],
        ...['--setup-url', `${settings.issuerUrl}/onboard/callback`],
        ...['--token-format', 'stateless'],
      ],
    },
    folders,
  )
  await waitUntil('an answer of the GitHub emulator', async () => ((await fetch(`${web}/api/v3/meta`)).ok ? true : undefined), {
    hopeless: () => hasEnded('github', folders),
  })
  progress.note(`GitHub emulator ${outcome}: ${web}`)
  return readLocalGitHub(settings)
}

/** Reads the files that the emulator wrote for the owner of the App and for its users. */
export async function readLocalGitHub(settings: ClusterSettings): Promise<LocalGitHub> {
  const secrets = join(githubFolder(settings), 'secrets')
  const web = `http://${settings.nodeAddress}:${githubPort}`
  const app = JSON.parse(await readFile(join(secrets, `${appSlug}.json`), 'utf8')) as {
    id: number
    clientId: string
    clientSecret: string
    webhookSecret: string
  }
  return {
    web,
    api: `${web}/api/v3`,
    appId: app.id,
    clientId: app.clientId,
    clientSecret: app.clientSecret,
    webhookSecret: app.webhookSecret,
    privateKey: await readFile(join(secrets, `${appSlug}.private-key.pem`), 'utf8'),
    personalTokens: JSON.parse(await readFile(join(secrets, 'personal-access-tokens.json'), 'utf8')),
  }
}
