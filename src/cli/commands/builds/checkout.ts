// What the git checkout of the person knows about a branch of a repository: which commit was pushed to it from here, and how two
// commits relate. Asks git, which may be missing; changes nothing, and asks no other computer.
import { execFile } from 'node:child_process'

export type PushedCommit = {
  /** The newest commit that this checkout knows to be on the branch of the remote. */
  readonly commit: string
  /** `origin/main`. */
  readonly branch: string
  /** The commit that is checked out, when it is on top of `commit` and was not pushed. */
  readonly unpushed: string | undefined
}

export type Checkout = {
  /** Undefined outside of a checkout of the repository, and for a branch that was never pushed or fetched. */
  readonly pushed: (repository: string, branch: string | undefined) => Promise<PushedCommit | undefined>
  /** Whether `later` was pushed after `earlier`: false for what this checkout does not know, such as a push of somebody else. */
  readonly isLater: (later: string, earlier: string) => Promise<boolean>
}

/** Runs git with these arguments; undefined when it fails or is not there. */
export type Git = (args: readonly string[]) => Promise<string | undefined>

const timeoutMilliseconds = 5000
const maxBytes = 256 * 1024

/** git in the folder, without its optional locks. */
export function gitIn(cwd: string): Git {
  return args =>
    new Promise(resolve => {
      const options = { cwd, timeout: timeoutMilliseconds, maxBuffer: maxBytes }
      execFile('git', ['--no-optional-locks', ...args], options, (error, out) => resolve(error === null ? out.trim() : undefined))
    })
}

/** `owner/name` of a remote's URL, in lower case, whichever form it has. */
export function repositoryOfUrl(url: string): string | undefined {
  const [, owner, name] = /[/:]([^/:]+)\/([^/]+?)(?:\.git)?\/*$/.exec(url.trim()) ?? []
  return owner === undefined || name === undefined ? undefined : `${owner}/${name}`.toLowerCase()
}

/** The checkout that `git` sees. */
export function createCheckout(git: Git): Checkout {
  const commitOf = (name: string): Promise<string | undefined> => git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
  const isAncestor = async (earlier: string, later: string): Promise<boolean> =>
    (await git(['merge-base', '--is-ancestor', earlier, later])) !== undefined

  async function remotesOf(repository: string): Promise<readonly string[]> {
    const lines = (await git(['config', '--get-regexp', '^remote\\..*\\.(push)?url$']))?.split('\n') ?? []
    return lines.flatMap(line => {
      const [, remote, url = ''] = /^remote\.(.+)\.(?:push)?url (.*)$/.exec(line) ?? []
      return remote !== undefined && repositoryOfUrl(url) === repository.toLowerCase() ? [remote] : []
    })
  }

  return {
    async pushed(repository, branch) {
      for (const remote of await remotesOf(repository)) {
        const head = `refs/remotes/${remote}/${branch ?? 'HEAD'}`
        const commit = await commitOf(head)
        if (commit === undefined) continue
        const own = await commitOf('HEAD')
        const isAhead = own !== undefined && own !== commit && (await isAncestor(commit, own))
        return { commit, branch: `${remote}/${branch ?? 'HEAD'}`, unpushed: isAhead ? own : undefined }
      }
      return undefined
    },
    async isLater(later, earlier) {
      if (later === earlier || (await commitOf(earlier)) === undefined) return false
      return !(await isAncestor(later, earlier))
    },
  }
}
