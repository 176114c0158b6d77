// The two forms in which the platform runs (deploy/standalone, deploy/production), and which of them a cluster has. A
// Deployment tells: nothing else records the form.
import { AppError } from '../../src/lib/errors.ts'
import type { AdminClient } from '../cluster/control-plane/admin-client.ts'

export const modes = ['standalone', 'production'] as const
export type Mode = (typeof modes)[number]

/** Where the platform runs, in either form. */
export const platformNamespace = 'sekisho-system'

/** The Deployments of each form. */
export const deploymentsOf: { readonly [M in Mode]: readonly string[] } = {
  standalone: ['sekisho'],
  production: ['sekisho-broker', 'sekisho-controllers', 'sekisho-admission', 'sekisho-data-services'],
}

/** The mode that the user asked for with `MODE`; undefined when they did not. */
export function askedMode(text: string | undefined): Mode | undefined {
  if (text === undefined || text === '') return undefined
  const found = modes.find(mode => mode === text)
  if (found === undefined) throw new AppError('invalid_configuration', `MODE must be one of ${modes.join(', ')}, not ${text}`)
  return found
}

/** The form to which one of these Deployments belongs. */
export function modeOf(deployments: readonly string[]): Mode | undefined {
  return modes.find(mode => deploymentsOf[mode].some(name => deployments.includes(name)))
}

/** The form that runs in the cluster; undefined when the platform is not installed. */
export async function runningMode(admin: AdminClient): Promise<Mode | undefined> {
  const { items } = (await admin.call('GET', `/apis/apps/v1/namespaces/${platformNamespace}/deployments`)) as {
    readonly items: readonly { readonly metadata: { readonly name: string } }[]
  }
  return modeOf(items.map(({ metadata }) => metadata.name))
}
