// The RepositoryGrants of the demo: dave makes one anew, waits until it is ready, and deletes it.
import type { RepositoryGrant } from '../../../../src/api/github/repository-grant.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { type DemoContext, tenantNamespace } from '../../context.ts'
import { mustRun, type Person } from '../../tools.ts'

/** What the grants of the demo differ in; each is for acme/shop. */
export type DemoGrant = {
  readonly name: string
  readonly permissions: Readonly<Record<string, string>>
  readonly subject: { readonly kind: string; readonly name: string }
  readonly delivery?: string
  readonly reason: string
}

const here = ['-n', tenantNamespace]

/** As YAML of kubectl, which reads JSON too. */
export function grantManifest({ name, permissions, subject, delivery = 'TokenEndpoint', reason }: DemoGrant): string {
  return JSON.stringify({
    apiVersion: 'github.sekisho.dev/v1alpha1',
    kind: 'RepositoryGrant',
    metadata: { name, namespace: tenantNamespace },
    spec: { installation: 'github', repositories: ['acme/shop'], permissions, subjects: [subject], delivery, reason },
  })
}

/** Deletes the grant if there is one. As long as one names a ServiceAccount, nobody runs commands in pods of the namespace. */
export async function deleteGrant(demo: DemoContext, dave: Person, name: string): Promise<void> {
  await mustRun(dave, demo.tools.kubectl, ['delete', `repositorygrant/${name}`, ...here, '--ignore-not-found', '--wait=true'])
}

/** Creates the grant anew, and waits until it is ready. */
export async function readyGrant(demo: DemoContext, dave: Person, grant: DemoGrant): Promise<void> {
  await deleteGrant(demo, dave, grant.name)
  await mustRun(dave, demo.tools.kubectl, ['apply', '-f', '-'], { input: grantManifest(grant) })
  await waitUntil(`the RepositoryGrant ${grant.name} to be Ready`, async () => {
    const args = ['get', `repositorygrant/${grant.name}`, ...here, '-o', 'json']
    const { status }: RepositoryGrant = JSON.parse(await mustRun(dave, demo.tools.kubectl, args))
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.status !== 'True') throw new Error(`${ready?.reason}: ${ready?.message}`)
    return true
  })
}
