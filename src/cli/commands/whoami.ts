// `sekisho whoami`: who the platform takes me for.
import { AppError } from '../../lib/errors.ts'
import { json, type OutputFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

type WhoAmI = {
  readonly subject: string
  readonly login: string | null
  readonly groups: readonly string[]
  readonly platformAdmin: boolean
  readonly tenants: readonly { readonly name: string; readonly namespace: string; readonly role: string }[]
}

function isWhoAmI(value: unknown): value is WhoAmI {
  if (typeof value !== 'object' || value === null) return false
  const { subject, groups, tenants } = value as Record<string, unknown>
  return typeof subject === 'string' && Array.isArray(groups) && Array.isArray(tenants)
}

export async function whoami(context: CommandContext, options: { readonly output: OutputFormat }): Promise<void> {
  const answer = await (await context.api()).json('/api/v1/whoami')
  if (!isWhoAmI(answer))
    throw new AppError('upstream_failed', 'the answer of the platform is not understood: is this sekisho up to date?')
  const { terminal } = context
  if (options.output === 'json') return terminal.result(json(answer))
  terminal.result(`${answer.login ?? 'unknown'} (${answer.subject})${answer.platformAdmin ? ', platform admin' : ''}`)
  if (options.output === 'wide') terminal.result(answer.groups.map(group => `  ${group}`).join('\n'))
  if (answer.tenants.length === 0) return terminal.result('no role in any tenant')
  const rows = answer.tenants.map(({ name, namespace, role }) => [name, namespace, role])
  terminal.result(table(['TENANT', 'NAMESPACE', 'ROLE'], rows))
}
