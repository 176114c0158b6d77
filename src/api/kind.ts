// What one of our kinds is: names, schemas, columns, conditions and texts as data. `defineKind` ties them to static types;
// `schema/crd.ts` makes the CustomResourceDefinition of it, and dev/generate/reference the page docs/reference/kinds.md.
import type { OwnsApplications } from './capabilities/application-owner.ts'
import type { FollowsRepository } from './capabilities/repository-follower.ts'
import type { Reason, Reasons } from './reasons/reason.ts'
import type { Condition, KubeObject, ObjectMeta, ResourceType } from './resource.ts'
import { conditionsSchema } from './schema/conditions-schema.ts'
import { integer, object, optional, type Rule, type Static, type TSchema } from './schema/schema.ts'

/** The end of every API group, and the prefix of labels and annotations. */
export const domain = 'sekisho.dev'
/** The one API version of all kinds. */
export const version = 'v1alpha1'

export type PrinterColumn = {
  readonly name: string
  readonly type: 'string' | 'integer' | 'date' | 'boolean'
  readonly jsonPath: string
  readonly priority?: 0 | 1
}

/**
 * `create-delete` is for kinds that are requested and given up but never edited, `create-change-by-admin` for kinds that only
 * the platform deletes and only the role admin writes, `write-by-admin` for kinds that only that role writes; all include
 * reading.
 */
export type TenantAccess =
  | 'read'
  | 'create-delete'
  | 'create-change-by-admin'
  | 'create-delete-by-admin'
  | 'write-by-admin'
  | 'write'

/**
 * What platform admins may do beside reading: end what is there, make it and take it back, make and change what the platform
 * deletes, or all.
 */
export type AdminAccess = 'delete' | 'create-delete' | 'create-change' | 'write'

/** The columns that every kind has before `Age`. */
export const readyColumns: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
]
/** The last column of every kind. */
export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** Everything that defines a kind. */
export type KindOptions<Spec extends TSchema, Status extends Record<string, TSchema>> = {
  readonly group: 'tenancy' | 'github' | 'apps' | 'services'
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly scope: 'Cluster' | 'Namespaced'
  readonly description: string
  /** Who creates, changes and deletes objects of this kind: a sentence for the reference. */
  readonly writtenBy: string
  readonly spec: Spec
  /** Fields of status beside `conditions` and `observedGeneration`, which every kind has. All must be `optional`. */
  readonly status: Status
  /** Condition type → what `True` says. */
  readonly conditions: Readonly<Record<'Ready' | (string & {}), string>>
  /** Of its conditions; the file of the kind exports their names. */
  readonly reasons: Reasons<object>
  /** With `setOnce`, a field of the spec that may be added and then never changes; with `except`, those that may change. */
  readonly immutableSpec?: true | { readonly setOnce: string } | { readonly except: readonly string[] }
  /**
   * What the roles developer and admin may do with objects in their namespace; viewers may read them. Absent: tenants may do
   * nothing.
   */
  readonly tenantAccess?: TenantAccess
  /** What the role of platform admins may do with it beside reading. Absent: nothing. */
  readonly adminAccess?: AdminAccess
  /** The fields that `kubectl scale` sets and shows; whoever may write the kind may scale it. */
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string }
  /** Set by a kind that follows a repository; its spec has `followerFields`, its status `followerStatusFields`. */
  readonly followsRepository?: FollowsRepository<Static<Spec>>
  /** Set by a kind whose objects own Applications (`capabilities/application-owner.ts`). */
  readonly ownsApplications?: OwnsApplications
  readonly rules?: readonly Rule[]
  readonly columns: readonly PrinterColumn[]
  readonly selectableFields?: readonly string[]
}

/** An object of a kind. */
export type Resource<Spec, Status> = KubeObject & {
  readonly metadata: ObjectMeta
  readonly spec: Spec
  readonly status?: Status & { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] }
}

/** A kind of the product: how to request its objects, and the data of its definition. */
export type KindDefinition<T extends KubeObject = KubeObject> = ResourceType<T> & {
  readonly group: string
  readonly options: KindOptions<TSchema, Record<string, TSchema>>
  readonly specSchema: TSchema
  readonly statusSchema: TSchema
  /** By name. */
  readonly reasons: ReadonlyMap<string, Reason>
}

type StatusOf<S extends Record<string, TSchema>> = Static<ReturnType<typeof object<S>>>

/** Adds what all kinds share (`conditions`, `observedGeneration`, names with the domain) and ties the schemas to static types. */
export function defineKind<Spec extends TSchema, Status extends Record<string, TSchema>>(
  options: KindOptions<Spec, Status>,
): KindDefinition<Resource<Static<Spec>, StatusOf<Status>>> {
  const statusSchema = object(
    {
      observedGeneration: optional(
        integer({
          description:
            'The `metadata.generation` for which this status was determined. If it is lower than `metadata.generation`, the controller has not processed the latest change yet.',
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
        }),
      ),
      conditions: optional(conditionsSchema),
      ...options.status,
    },
    { description: 'The state that the platform observed. Only the platform writes it.' },
  )
  return {
    apiVersion: `${options.group}.${domain}/${version}`,
    group: `${options.group}.${domain}`,
    kind: options.kind,
    plural: options.plural,
    namespaced: options.scope === 'Namespaced',
    options,
    specSchema: options.spec,
    statusSchema,
    reasons: options.reasons.byName,
  }
}

/** The object type of a kind definition. */
export type ObjectOf<D> = D extends ResourceType<infer T> ? T : never
