// A second tenant for tests of the walls between tenants: made by the administrator, so it has no Installation and no people.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { find, untilReason } from './objects.ts'
import type { Platform } from './platform.ts'

export type Neighbour = {
  readonly namespace: string
  /** Resolves when the Tenant is gone, with its namespaces: later tests look for controllers that rest. */
  readonly end: () => Promise<void>
}

/** Resolves when the namespaces of the tenant exist and have their contents. `account` is a GitHub account id that nobody has. */
export async function openNeighbour(platform: Platform, name: string, account: number): Promise<Neighbour> {
  const { admin } = platform
  // An earlier run may have been cut off.
  if ((await find(admin, `tenant/${name}`))?.metadata.deletionTimestamp !== undefined)
    await waitUntil(`the end of the tenant ${name}`, async seen => seen(await find(admin, `tenant/${name}`)) === undefined, {
      timeoutMilliseconds: limits.rollout,
      everyMilliseconds: 500,
    })
  const tenant = {
    apiVersion: 'tenancy.sekisho.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name },
    spec: { account: { host: 'github.localhost', id: account, login: name, type: 'User' }, namespace: name, roles: [] },
  }
  const manifest = join(platform.stateFolder, `${name}.json`)
  await writeFile(manifest, JSON.stringify(tenant))
  const run = async (args: readonly string[]): Promise<void> => {
    const answer = await platform.asAdministrator(args)
    if (answer.code !== 0) throw new Error(answer.errors)
  }
  await run(['apply', '-f', manifest])
  await untilReason(admin, `tenant/${name}`, 'NamespacesReady')
  return { namespace: name, end: () => run(['delete', 'tenant', name, '--timeout=100s', '--ignore-not-found']) }
}
