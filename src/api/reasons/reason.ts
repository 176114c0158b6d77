// What a reason of a condition is: its name, what it means for whoever waits, and what it says. Everything that treats reasons
// alike asks for the class.

/**
 * `ready`: it is so. `progress`: the platform goes on by itself. `machine`: something else must answer first (GitHub, a
 * registry, the cluster), and the platform tries again. `person`: it goes on when somebody grants, creates, deletes or corrects
 * something. `failed`: nothing comes of this commit and spec. `intended`: somebody wants it so.
 */
export type ReasonClass = 'ready' | 'progress' | 'machine' | 'person' | 'failed' | 'intended'

export type Reason = {
  readonly class: ReasonClass
  /** What it says and what to do, for the reference. */
  readonly says: string
}

/** Class → name of a reason → what it says. */
type ByClass = { readonly [Class in ReasonClass]?: Readonly<Record<string, string>> }
type NameIn<Own> = { [Class in keyof Own]: Extract<keyof Own[Class], string> }[keyof Own]
/** The key of a reason is its name with a small letter, or the one that `Keys` gives to it. */
type Names<Own, Keys> = Keys & { readonly [Name in Exclude<NameIn<Own>, Keys[keyof Keys]> as Uncapitalize<Name>]: Name }
type Together<Parts> = Parts extends readonly [{ readonly names: infer First }, ...infer Rest] ? First & Together<Rest> : unknown

export type Reasons<All = Readonly<Record<string, string>>> = {
  /** Each reason as conditions say it, by the key that code uses. */
  readonly names: All
  readonly byName: ReadonlyMap<string, Reason>
}

/** `parts`: reasons that several kinds have. */
export function defineReasons<
  const Own extends ByClass,
  const Keys extends Readonly<Record<string, NameIn<Own>>> = Record<never, never>,
  const Parts extends readonly Reasons<object>[] = [],
>(own: Own, keys: Keys = {} as Keys, ...parts: Parts): Reasons<Names<Own, Keys> & Together<Parts>> {
  const named = new Map<string, string>(Object.entries(keys).map(([key, name]) => [name, key]))
  const reasons = Object.entries(own).flatMap(([of, texts]) =>
    Object.entries(texts).map(([name, says]) => [name, { class: of as ReasonClass, says }] as const),
  )
  const names = reasons.map(([name]) => [named.get(name) ?? `${name.charAt(0).toLowerCase()}${name.slice(1)}`, name])
  return {
    names: Object.assign(Object.fromEntries(names), ...parts.map(part => part.names)),
    byName: new Map([...reasons, ...parts.flatMap(({ byName }) => [...byName])]),
  }
}

/**
 * The reason of `Ready` when the platform itself lacks a right, in every kind whose controller writes by rights of a
 * RoleBinding.
 */
export const rightMissing = defineReasons({
  machine: {
    RightMissing:
      'The API server refuses what the platform has to write for this object, because the platform lacks a right. The message names the right, where it is missing and where to look. The platform puts a RoleBinding back by itself; after a change of its roles a platform admin applies them again (deploy/rbac). Then the object goes on by itself.',
  },
})

/** Of what needs a token of GitHub: nobody asked GitHub, which has limited nothing. */
export const pacedByPlatform = defineReasons(
  {
    machine: {
      PacedByPlatform:
        'The platform spaces its requests to GitHub, so that GitHub does not limit the App that all tenants share: many tokens of the App, of the installation or of the tenant were requested. The message says of which. The platform goes on by itself.',
    },
  },
  { paced: 'PacedByPlatform' },
)

/** Undefined for a reason that the kind does not have, as of another version of the platform. */
export function classOf({ reasons }: { readonly reasons: ReadonlyMap<string, Reason> }, name: string): ReasonClass | undefined {
  return reasons.get(name)?.class
}

/** Whether nobody has to do anything. */
export function goesOnByItself(of: ReasonClass | undefined): boolean {
  return of === 'progress' || of === 'machine'
}
