// `sekisho whoami`: the user's identity, groups and roles as the platform sees them.
import { AppError } from '../../lib/errors.ts'
import { isJsonObject } from '../../lib/json/json-value.ts'
import { json, type OutputFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

export type WhoAmI = {
  readonly subject: string
  readonly login: string | null
  readonly groups: readonly string[]
  readonly platformAdmin: boolean
  /** Reads the whole audit log; absent in answers of older platforms. */
  readonly auditor?: boolean
  readonly tenants: readonly { readonly name: string; readonly namespace: string; readonly role: string }[]
}

function isWhoAmI(value: unknown): value is WhoAmI {
  return (
    isJsonObject(value) &&
    typeof value['subject'] === 'string' &&
    ['groups', 'tenants'].every(field => Array.isArray(value[field]))
  )
}

/** Asks the platform. Rejects with `upstream_failed` for an answer of another shape. */
export async function askWhoAmI(context: CommandContext): Promise<WhoAmI> {
  const answer = await (await context.api()).json('/api/v1/whoami')
  if (isWhoAmI(answer)) return answer
  throw new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

/** Prints identity and roles; `wide` adds the groups. */
export async function whoami(context: CommandContext, options: { readonly output: OutputFormat }): Promise<void> {
  const answer = await askWhoAmI(context)
  const { terminal } = context
  if (options.output === 'json') return terminal.result(json(answer))
  const office = answer.platformAdmin ? ', platform admin' : answer.auditor ? ', auditor of the platform' : ''
  terminal.result(`${answer.login ?? 'unknown'} (${answer.subject})${office}`)
  if (options.output === 'wide') terminal.result(answer.groups.map(group => `  ${group}`).join('\n'))
  if (answer.tenants.length === 0) return terminal.result('no role in any tenant')
  const rows = answer.tenants.map(({ name, namespace, role }) => [name, namespace, role])
  terminal.result(table(['TENANT', 'NAMESPACE', 'ROLE'], rows))
}
