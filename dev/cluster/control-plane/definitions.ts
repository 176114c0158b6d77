// Kinds of a cluster that is just starting, before kube-controller-manager: its quota controller and its garbage collector look for kinds at their
// start, and then only every 30 s, so that quotas of a kind which comes later count nothing until then.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { AdminClient, Manifest } from './admin-client.ts'

/** A CustomResourceDefinition. */
export type Definition = Manifest & {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string }[]
  }
}

const base = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Applies the definitions and waits until all are served and discovered; may be called again. */
export async function installDefinitions(
  admin: AdminClient,
  definitions: readonly Definition[],
  fieldManager: string,
): Promise<void> {
  await Promise.all(
    definitions.map(definition =>
      admin.call(
        'PATCH',
        `${base}/${definition.metadata.name}?fieldManager=${fieldManager}&force=true`,
        definition,
        'application/apply-patch+yaml',
      ),
    ),
  )
  for (const { metadata, spec } of definitions) await waitUntil(`${metadata.name} is served`, () => isServed(admin, spec))
}

/** Both as a resource and in the discovery of its group, which controllers read. */
async function isServed(admin: AdminClient, { group, names, versions }: Definition['spec']): Promise<boolean> {
  const version = `${group}/${versions[0]?.name}`
  const listed = await admin.request('GET', `/apis/${version}/${names.plural}?limit=1`)
  const resources = await admin.request('GET', `/apis/${version}`)
  const groups = await admin.request('GET', '/apis')
  const named = (body: unknown): string => JSON.stringify(body)
  return (
    listed.status === 200 &&
    named(resources.body).includes(`"name":"${names.plural}"`) &&
    named(groups.body).includes(`"groupVersion":"${version}"`)
  )
}
