// What has become of all Applications of a RemoteSync, in one sentence: what is wrong goes before what goes on, and that before
// what is intended. Pure.
import { type RemoteSync, remoteSync } from '../../../api/apps/remote-sync.ts'
import { classOf, type ReasonClass } from '../../../api/reasons/reason.ts'
import type { Halt } from '../halt.ts'
import type { RemoteSyncStatus } from '../status.ts'
import type { Rollout } from './decide-deploy.ts'

/** `waits`: for the release job of the first, which has not run the image yet. */
export type Standing = { readonly name: string } & (
  | { readonly kind: 'set'; readonly rollout: Rollout }
  | { readonly kind: 'halted'; readonly halted: Halt }
  | { readonly kind: 'waits' }
)

const rank: Readonly<Record<ReasonClass, number>> = { failed: 0, person: 0, machine: 1, progress: 1, intended: 2, ready: 2 }

const rankOf = ({ reason }: Halt): number => rank[classOf(remoteSync, reason) ?? 'machine']

/** Of a message that goes on in further lines, such as the end of a log. */
function afterFirstLine(message: string, notes: readonly string[]): string {
  const [first = '', ...rest] = message.split('\n')
  return [[first, ...notes].join('; '), ...rest].join('\n')
}

function haltOf(standing: Standing): readonly { readonly name: string; readonly halted: Halt }[] {
  if (standing.kind === 'waits') return []
  const halted = standing.kind === 'set' ? standing.rollout.halted : standing.halted
  return halted === undefined ? [] : [{ name: standing.name, halted }]
}

function waitNote(standings: readonly Standing[]): readonly string[] {
  const waiting = standings.filter(({ kind }) => kind === 'waits').map(({ name }) => name)
  const verb = waiting.length === 1 ? 'gets' : 'get'
  return waiting.length === 0 ? [] : [`${waiting.join(', ')} ${verb} the image after the release job of ${standings[0]?.name}`]
}

/** The one halt, undefined when all run the image. */
export function worstHalt(standings: readonly Standing[]): Halt | undefined {
  const halts = standings.flatMap(haltOf)
  const [worst] = halts.toSorted((a, b) => rankOf(a.halted) - rankOf(b.halted))
  if (worst === undefined) return undefined
  const others = halts.filter(one => one !== worst).map(({ name, halted }) => `${name} (${halted.reason})`)
  const also = others.length === 0 ? [] : [`also not ready: ${others.join(', ')}`]
  const message = afterFirstLine(worst.halted.message, [...also, ...waitNote(standings)])
  return { ...worst.halted, stage: isSetOnAll(standings) ? 'Ready' : 'Deployed', message }
}

export function isSetOnAll(standings: readonly Standing[]): boolean {
  return standings.every(({ kind }) => kind === 'set')
}

/** When the last of them became available. For standings without a halt. */
export function availableAt(standings: readonly Standing[], now: Date): string {
  const times = standings.flatMap(standing => (standing.kind === 'set' ? (standing.rollout.availableAt ?? []) : []))
  return times.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? now.toISOString()
}

/** The status with the Applications that the RemoteSync holds; nothing is said of the one and only. */
export function withApplications(
  { applications: before = [], ...status }: RemoteSyncStatus,
  { otherApplications }: Pick<RemoteSync['spec'], 'otherApplications'>,
  standings: readonly Standing[],
): RemoteSyncStatus {
  if (otherApplications === undefined) return status
  const held = standings.filter(({ name, kind }) => kind === 'set' || (kind === 'waits' && before.includes(name)))
  return { ...status, applications: held.map(({ name }) => name) }
}
