// Halts for attacks: those of gary in globex, and those of the platform that are about globex alone. Each is noted before it is
// made, and lifted at the end.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import { groupPath } from '../cluster/api-attempts.ts'
import { type grantOf, grants } from '../races/token-requests.ts'
import { liftHalt } from '../world/lift.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'

export const group = 'github.sekisho.dev/v1alpha1'
export const haltsIn = (namespace: string): string => groupPath(group, namespace, 'halts')
export const own = haltsIn(neighbourNamespace)
export const ofPlatform = haltsIn(platformNamespace)
export const host = 'github.localhost'

export type Target = { readonly type: string } & Readonly<Record<string, unknown>>

export function haltOf(name: string, target: Target, more: Readonly<Record<string, unknown>> = {}) {
  return { apiVersion: group, kind: 'Halt', metadata: { name }, spec: { target, reason: 'an attack', ...more } }
}

/** A grant that nobody has. */
export const nothing: Target = { type: 'Grant', grant: { namespace: neighbourNamespace, name: 'attack-nothing' } }

export type Standing = {
  readonly metadata: { readonly uid: string }
  readonly spec: { readonly requestedBy: string }
  readonly status?: {
    readonly tokens?: { readonly revoked: number; readonly left: number }
    readonly grants?: { readonly count: number; readonly names: readonly string[] }
    readonly conditions?: readonly { readonly status: string; readonly reason: string }[]
  }
}

/** The Halt as the controller has carried it out. */
export function carriedOut({ admin }: Pick<World, 'admin'>, path: string): Promise<Standing> {
  return waitUntil(
    `${path} to be carried out`,
    async () => {
      const halt = (await admin.call('GET', path)) as Standing
      return halt.status?.conditions?.[0]?.status === 'True' ? halt : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

/** Made by gary in globex, or by the administrator of the cluster for the platform. */
export async function stand(world: World, collection: string, json: ReturnType<typeof haltOf>): Promise<Standing> {
  const path = `${collection}/${json.metadata.name}`
  await world.journal.note({ kind: 'object', path })
  if (collection === ofPlatform) {
    const { status, body } = await world.admin.request('POST', collection, json)
    if (status !== 201 && status !== 409) throw new Error(`${path} cannot be made: ${status} ${JSON.stringify(body)}`)
  } else {
    const { status, text } = await world.api('gary', 'POST', collection, { json })
    if (status !== 201 && status !== 409) throw new Error(`gary cannot halt what is of globex: ${status} ${text}`)
  }
  return carriedOut(world, path)
}

/** Resolves when it is gone. */
export async function ended({ admin }: Pick<World, 'admin'>, path: string): Promise<void> {
  await liftHalt(admin, path)
  await waitUntil(`${path} to be gone`, async () => (await admin.request('GET', path)).status === 404, {
    timeoutMilliseconds: limits.rollout,
  })
}

/**
 * gary's grant on the repository of globex, noted and approved; resolves to the number of that repository. `again`: the one of
 * before is being deleted, and this one waits until it is gone.
 */
export async function approvedGrant(world: World, json: ReturnType<typeof grantOf>, again?: 'again'): Promise<number> {
  const path = `${grants}/${json.metadata.name}`
  await world.journal.note({ kind: 'object', path })
  await waitUntil(`${path} to be made`, async () => {
    const { status, text } = await world.api('gary', 'POST', grants, { json })
    if (status === 201 || (status === 409 && again === undefined)) return true
    if (status === 409) return undefined
    throw new Error(`gary cannot grant access to his own repository: ${status} ${text}`)
  })
  return waitUntil(
    `${path} to be approved`,
    async () => {
      const { status } = (await world.admin.call('GET', path)) as {
        readonly status?: { readonly decision?: string; readonly repositories?: readonly { readonly id: number }[] }
      }
      return status?.decision === 'Approved' ? status.repositories?.[0]?.id : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
}
