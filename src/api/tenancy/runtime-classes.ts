// `spec.runtimeClass` of a Tenant and its siblings: with which runtime of the nodes its pods run. Data only.
// Source: https://kubernetes.io/docs/concepts/containers/runtime-class/
import { object, optional, text } from '../schema/schema.ts'

/** A DNS subdomain that fits into a label. */
export const runtimeClassName = { max: 63, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' } as const

const name = (description: string) => optional(text({ description, ...runtimeClassName }))

export const runtimeClassFields = {
  runtimeClass: name(
    'The RuntimeClass of all pods of the tenant, such as one of gVisor or Kata, which gives them a kernel of their own. `SEKISHO_RUNTIME_CLASS` of the platform when omitted.',
  ),
  isolatedRuntimeClass: name(
    'The RuntimeClass of the pods of isolated Applications. `SEKISHO_ISOLATED_RUNTIME_CLASS` of the platform when omitted, else that of the other pods.',
  ),
  buildRuntimeClass: name(
    'The RuntimeClass of the builds. `SEKISHO_BUILD_RUNTIME_CLASS` of the platform when omitted, else that of the other pods.',
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
        'The RuntimeClasses with which new pods are created. One that is not here is the runtime that the nodes use without a RuntimeClass.',
    },
  ),
)
