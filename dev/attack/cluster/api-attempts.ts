// Attempts on the API server, as data. What is outside of globex is never changed: there every write is a dry run, for which
// authorization and admission are the same. What is made in globex is noted first and deleted at the end.
import { defined } from '../../../src/lib/json/defined.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attempt } from '../attack.ts'
import { judgeApi } from '../judge.ts'
import type { Verdict } from '../verdict.ts'
import type { Actor } from '../world/actors.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { ApiRequest, World } from '../world/world.ts'

export type ApiAttempt = {
  readonly as: Actor
  readonly method: string
  readonly path: string
  readonly json?: unknown
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What the attempt is called; method and path otherwise. */
  readonly name?: string
  /** A dry run also in globex, where success would disturb others. */
  readonly dry?: true
  /** A connection to a pod that does not exist: it changes nothing, and the API server has no dry run of connections. */
  readonly connects?: true
  readonly judge?: (answer: HttpAnswer) => Verdict
}

export const mergePatch = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const applyPatch = 'application/apply-patch+yaml'

const ownPath = `/namespaces/${neighbourNamespace}/`

/** The path with a dry run, unless the request only reads or stays within globex. */
function safePath({ method, path, dry, connects }: ApiAttempt): string {
  if (method === 'GET' || connects || path.includes('dryRun=') || (path.includes(ownPath) && !dry)) return path
  return `${path}${path.includes('?') ? '&' : '?'}dryRun=All`
}

function nameIn(text: string): string | undefined {
  try {
    const { metadata } = JSON.parse(text) as { metadata?: { name?: string } }
    return metadata?.name
  } catch {
    return undefined
  }
}

export function apiAttempt(world: World, planned: ApiAttempt): Attempt {
  const { as, method, json, contentType, headers, judge = judgeApi } = planned
  const usual = safePath(planned)
  const path = world.onlyDryRuns ? safePath({ ...planned, dry: true }) : usual
  const makes = method === 'POST' && !path.includes('dryRun=All')
  const collection = planned.path.split('?')[0]
  return {
    name: `${as}: ${planned.name ?? `${method} ${usual}`}`,
    async run() {
      const name = makes ? nameIn(JSON.stringify(json)) : undefined
      if (name !== undefined) await world.journal.note({ kind: 'object', path: `${collection}/${name}` })
      const options: ApiRequest = {
        ...defined({ json, contentType, headers }),
      }
      const answer = await world.api(as, method, path, options)
      const made = makes && name === undefined && answer.status < 300 ? nameIn(answer.text) : undefined
      if (made !== undefined) await world.journal.note({ kind: 'object', path: `${collection}/${made}` })
      return judge(answer)
    },
  }
}

export function apiAttempts(world: World, plans: readonly ApiAttempt[]): readonly Attempt[] {
  return plans.map(planned => apiAttempt(world, planned))
}

/** `/api/v1/namespaces/globex/services`, for example. */
export function corePath(namespace: string, resource: string): string {
  return `/api/v1/namespaces/${namespace}/${resource}`
}

export function groupPath(group: string, namespace: string, resource: string): string {
  return `/apis/${group}/namespaces/${namespace}/${resource}`
}
