// The actions of the audit log in the groups by which people ask for them: most entries are steps of one delivery, and checks of
// the platform itself. Pure.
import { type AuditAction, auditActions } from './audit-event.ts'

/** Group → what it has, for people. */
export const auditGroups = {
  deliveries: 'tokens that workloads received',
  tokens: 'every step of every token, also of those that the platform uses itself',
  pushes: 'refs that workloads pushed through the git proxy, and what it refused',
  decisions: 'grants, previews and onboardings that were decided, halts, and who asked for a change of access',
  services: 'databases of tenants, and the credentials that pods have for them',
  'sign-ins': 'people who signed in and out, on pages and for kubectl',
  tenants: 'tenants and Installations that began, changed and ended',
  platform: 'the log itself, keys, webhooks and everything else',
} as const
export type AuditGroup = keyof typeof auditGroups
export const auditGroupNames = Object.keys(auditGroups) as readonly AuditGroup[]

/** The beginning of an action → its group; the first that fits counts. */
const byBeginning: readonly (readonly [string, AuditGroup])[] = [
  ['token.', 'tokens'],
  ['git.', 'pushes'],
  ['grant.', 'decisions'],
  ['access.', 'decisions'],
  ['halt.', 'decisions'],
  ['preview.', 'decisions'],
  ['onboarding.decided', 'decisions'],
  ['service.', 'services'],
  ['credential.', 'services'],
  ['session.', 'sign-ins'],
  ['kubectl-token.', 'sign-ins'],
  ['refresh-token.', 'sign-ins'],
  ['tenant.', 'tenants'],
  ['installation.', 'tenants'],
  ['onboarding.', 'tenants'],
  ['binding.', 'tenants'],
]

/** The actions of a group. Deliveries are tokens too; otherwise an action is in one group. */
export function actionsOf(group: AuditGroup): readonly AuditAction[] {
  if (group === 'deliveries') return ['token.delivered']
  return auditActions.filter(action => (byBeginning.find(([start]) => action.startsWith(start))?.[1] ?? 'platform') === group)
}
