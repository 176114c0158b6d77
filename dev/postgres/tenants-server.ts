// The PostgreSQL that tenants of the local cluster share, beside the one of the production form: another process, folder and
// port, so that no tenant is a neighbour of the platform's own database.
import { join } from 'node:path'
import type { Progress } from '../cluster/progress.ts'
import type { ClusterSettings } from '../cluster/settings.ts'
import { cure, findPostgres } from './find-postgres.ts'
import { ensureServer, type PlatformServer } from './platform-server.ts'

const processName = 'postgres-tenants'

/** The account by which the platform makes databases on it. */
export const tenantsAdministrator = 'sekisho_data_services'

/** Data, socket and certificates. */
export function tenantsServerFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, processName)
}

/** Starts the server unless it runs; undefined, with a note that says the cure, on a machine without PostgreSQL. */
export async function ensureTenantsServer(settings: ClusterSettings, progress: Progress): Promise<PlatformServer | undefined> {
  const programs = findPostgres()
  if (programs === undefined) {
    progress.note(`tenants get no databases, because this machine has no PostgreSQL: ${cure}; then make up again`)
    return undefined
  }
  const place = {
    processName,
    folder: tenantsServerFolder(settings),
    port: settings.tenantsPostgresPort,
    hosts: [],
    access: tenantsAccessRules(settings),
  }
  return ensureServer({ settings, programs, place }, progress)
}

/** The superuser of the operating system by the socket; everybody else by TLS and password, from pods and from the node. */
export function tenantsAccessRules({ nodeAddress, podCidr }: Pick<ClusterSettings, 'nodeAddress' | 'podCidr'>): string {
  const rows = [`${nodeAddress}/32`, podCidr].map(range => `hostssl all all ${range} scram-sha-256`)
  return ['local all postgres peer', ...rows, ''].join('\n')
}
