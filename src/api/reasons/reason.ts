// What a reason of a condition is: its name, what it means for whoever waits, and what it says. Everything that treats reasons alike asks for the class.

/**
 * `ready`: it is so. `progress`: the platform goes on by itself. `machine`: something else must answer first (GitHub, a registry, the cluster), and the
 * platform tries again. `person`: it goes on when somebody grants, creates, deletes or corrects something. `failed`: nothing comes of this commit and
 * spec. `intended`: somebody wants it so.
 */
export type ReasonClass = 'ready' | 'progress' | 'machine' | 'person' | 'failed' | 'intended'

export type Reason<Name extends string = string> = {
  readonly name: Name
  readonly class: ReasonClass
  /** What it says and what to do, for the reference. */
  readonly says: string
}

/** The reasons of a kind by the names that code uses. */
export type Reasons = Readonly<Record<string, Reason>>

const ofClass =
  (of: ReasonClass) =>
  <const Name extends string>(name: Name, says: string): Reason<Name> => ({ name, class: of, says })

export const ready = ofClass('ready')
export const progress = ofClass('progress')
export const machine = ofClass('machine')
export const person = ofClass('person')
export const failed = ofClass('failed')
export const intended = ofClass('intended')

/** Each reason as conditions say it. */
export function namesOf<R extends Reasons>(reasons: R): { readonly [Key in keyof R]: R[Key]['name'] } {
  const names = Object.entries(reasons).map(([key, { name }]) => [key, name])
  return Object.fromEntries(names) as { readonly [Key in keyof R]: R[Key]['name'] }
}

/** The reason of `Ready` when the platform itself lacks a right, in every kind whose controller writes by rights of a RoleBinding. */
export const rightMissing = machine(
  'RightMissing',
  'The API server refuses what the platform has to write for this object, because the platform lacks a right. The message names the right, where it is missing and where to look. The platform puts a RoleBinding back by itself; after a change of its roles a platform admin applies them again (deploy/rbac). Then the object goes on by itself.',
)

type WithReasons = { readonly reasons: ReadonlyMap<string, Reason> }

/** Undefined for a reason that the kind does not have, as of another version of the platform. */
export function classOf({ reasons }: WithReasons, name: string): ReasonClass | undefined {
  return reasons.get(name)?.class
}

/** Whether nobody has to do anything. */
export function goesOnByItself(of: ReasonClass | undefined): boolean {
  return of === 'progress' || of === 'machine'
}
