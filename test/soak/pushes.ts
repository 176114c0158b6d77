// Commits that a developer pushes with git to branches that RemoteSyncs follow. The GitHub emulator sends the webhooks, or
// loses them.
import { cloneUrl, createGitClient, type GitClient } from '../../dev/github/testing/git-client.ts'
import type { PlatformInUse } from '../platform/open-platform.ts'
import { accepted, developer, namespace, paths } from './tenant.ts'

export type Pushes = {
  readonly tick: () => Promise<void>
  /** The expected state: RemoteSync to commit. */
  readonly heads: ReadonlyMap<string, string>
  readonly pushed: () => number
  readonly close: () => Promise<void>
}

const branches = 4
const repository = 'acme/shop'

async function must(client: GitClient, ...args: readonly string[]): Promise<string> {
  const { ok, stdout, stderr } = await client.run(...args)
  if (!ok) throw new Error(`git ${args[0]}: ${stderr.slice(0, 500)}`)
  return stdout
}

export async function createPushes(fixture: PlatformInUse): Promise<Pushes> {
  const client = await createGitClient()
  const token = fixture.github.personalTokens['dave']
  const remote = cloneUrl(fixture.github.url, repository, token)
  await must(client, 'clone', '--quiet', remote, '.')
  const heads = new Map<string, string>()
  let pushed = 0

  async function push(branch: number): Promise<void> {
    const name = `soak-${branch}`
    await must(client, 'checkout', '--quiet', '-B', name)
    const commit = await client.commit('soak.txt', `push ${++pushed}\n`, `push ${pushed}`)
    await must(client, 'push', '--quiet', '--force', remote, `HEAD:refs/heads/${name}`)
    heads.set(name, commit.trim())
  }

  for (let branch = 0; branch < branches; branch++) {
    await push(branch)
    const name = `soak-${branch}`
    accepted(
      await fixture.people.as(developer, 'POST', paths.remoteSyncs, {
        apiVersion: 'apps.sekisho.dev/v1alpha1',
        kind: 'RemoteSync',
        metadata: { name, namespace },
        spec: { installation: 'github', repository, source: { branch: name }, build: {}, application: name },
      }),
      `RemoteSync ${name}`,
    )
  }
  return { heads, pushed: () => pushed, tick: () => push(pushed % branches), close: () => client.remove() }
}
