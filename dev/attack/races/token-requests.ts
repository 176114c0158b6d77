// Requests for tokens of GitHub from the pod of globex while the right to them ends, and what became of each token that was
// given.
import { type DemoContext, neighbourNamespace } from '../../demo/context.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { World } from '../world/world.ts'

export const grants = groupPath('github.sekisho.dev/v1alpha1', neighbourNamespace, 'repositorygrants')
const desk = 'https://sekisho-token-desk.sekisho-system.svc/v1/token'

/** One answer of the desk, at a time of this process. */
export type Answer = { readonly status: number; readonly token?: string; readonly at: number }

/**
 * What is known when the right has ended: every answer, the tokens that GitHub still takes, and whether GitHub took one before.
 */
export type Ended = {
  readonly answers: readonly Answer[]
  readonly alive: readonly string[]
  readonly workedBefore: boolean
  readonly endedAt: number
}

/**
 * A token that works after the end is harm. Without a token that worked before, or a refusal after the end, nothing was tried.
 */
export function judgeTokens({ answers, alive, workedBefore, endedAt }: Ended): Verdict {
  const given = new Set(answers.flatMap(({ token }) => (token === undefined ? [] : [token])))
  const late = answers.filter(({ status, at }) => status === 200 && at > endedAt).length
  const refused = answers.filter(({ status, at }) => status === 403 && at > endedAt).length
  const text = `${answers.length} requests, ${given.size} tokens, ${late} given after the end, ${refused} refused after it`
  if (alive.length > 0) return succeeded(`${text}: GitHub takes ${alive.length} of them`)
  if (!workedBefore || refused === 0) return unclear(`${text}; worked before: ${workedBefore}`)
  return stopped('token desk', `${text}: GitHub takes none`)
}

/** A token of GitHub works: it can list what it reaches. */
export async function works(demo: Pick<DemoContext, 'githubWeb'>, http: World['http'], token: string): Promise<boolean> {
  const answer = await http.send(`${demo.githubWeb}/api/v3/installation/repositories`, {
    headers: { authorization: `token ${token}` },
  })
  if (answer.status === 200) return true
  if (answer.status === 401) return false
  throw new Error(`GitHub answers ${answer.status} to a token: ${answer.text.slice(0, 100)}`)
}

/** A request by this identity, which a pod of globex holds. */
export async function ask(world: World, identity: string, grant: string): Promise<Answer> {
  const result = await world.probe(
    {
      kind: 'http',
      url: desk,
      method: 'POST',
      milliseconds: 12_000,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${identity}` },
      body: JSON.stringify({ grant }),
    },
    { ownTokens: true },
  )
  const at = Date.now()
  if (result.kind !== 'answered') return { status: 0, at }
  return result.status === 200
    ? { status: 200, token: (JSON.parse(result.text) as { readonly token: string }).token, at }
    : { status: result.status, at }
}

/** For the site of globex. */
export function grantOf(name: string, account: string, lifetimeSeconds: number) {
  return {
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name },
    spec: {
      installation: 'github',
      repositories: ['globex/site'],
      permissions: { contents: 'read' },
      subjects: [{ kind: 'ServiceAccount', name: account }],
      lifetimeSeconds,
      reason: 'attack',
    },
  }
}
