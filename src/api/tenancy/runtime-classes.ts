// `spec.runtimeClass` of a Tenant and its siblings: with which runtime of the nodes its pods run. Data only.
// Source: https://kubernetes.io/docs/concepts/containers/runtime-class/
import { object, optional, text } from '../schema/schema.ts'

/** A DNS subdomain that fits into a label. */
export const runtimeClassName = { max: 63, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' } as const

const name = (description: string) => optional(text({ description, ...runtimeClassName }))

export const runtimeClassFields = {
  runtimeClass: name(
    'The RuntimeClass of the pods of the tenant, such as one of gVisor or Kata, which gives them a kernel of their own; isolated Applications and builds may have another one by the fields below. When it is omitted, what `SEKISHO_RUNTIME_CLASS` and its siblings of the platform say.',
  ),
  isolatedRuntimeClass: name(
    'The RuntimeClass of the pods of isolated Applications. `spec.runtimeClass` when omitted, else what `SEKISHO_ISOLATED_RUNTIME_CLASS` of the platform says.',
  ),
  buildRuntimeClass: name(
    'The RuntimeClass of the builds. `spec.runtimeClass` when omitted, else what `SEKISHO_BUILD_RUNTIME_CLASS` of the platform says.',
  ),
}

export const runtimeClassesField = optional(
  object(
    {
      applications: name('Of pods in the namespace of the tenant.'),
      isolated: name('Of the pods of isolated Applications.'),
      builds: name('Of pods in the build namespace.'),
    },
    {
      description:
        'The RuntimeClasses with which new pods are created. One that is not here is the runtime that the nodes use without a RuntimeClass, unless Ready says that a class cannot be used.',
    },
  ),
)
