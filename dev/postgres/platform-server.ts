// The PostgreSQL of the local production form: Debian's, on this host, with a folder, an address and certificates of its own.
// It is durable, as in production, and takes connections of pods by TLS only. It never touches another server of this machine.
import { chmod, chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { isAccessible } from '../cluster/file-access.ts'
import { devProcessFolders } from '../cluster/node/layout.ts'
import { installMissing } from '../cluster/node/packages.ts'
import { openAuthority } from '../cluster/pki/authority.ts'
import { ensureRunning, hasEnded, stopProcess } from '../cluster/processes/supervise.ts'
import type { Progress } from '../cluster/progress.ts'
import { type Account, runCommand, tryCommand } from '../cluster/run-command.ts'
import { type ClusterSettings, devClusterFolder } from '../cluster/settings.ts'
import { accountToRunAs } from './account.ts'
import { debianPackage, findPostgres } from './find-postgres.ts'

export type PlatformServer = {
  /** Runs SQL as the superuser, over the socket that only the server's account may use. The text is passed by standard input. */
  readonly query: (database: string, sql: string) => Promise<string>
}

/** Which of the servers on this host: its process, folder and port, and who gets in from where. */
export type Place = {
  readonly processName: string
  readonly folder: string
  readonly port: number
  /** Names in the certificate, beside the address of the node. */
  readonly hosts: readonly string[]
  /** The text of pg_hba.conf. */
  readonly access: string
}

const processName = 'postgres'
const readyMilliseconds = 30_000
const psql = '/usr/bin/psql'

/** The host name by which pods reach the server; the overlay makes the Service. */
export const databaseHost = 'sekisho-postgres.sekisho-system.svc'

/** Data, socket and certificates. Beside the folder of the cluster, which only root may enter. */
export function databaseFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, 'postgres')
}

/** Starts the server unless it runs already; resolves when it answers. Installs the Debian package when it is missing. */
export async function ensurePlatformServer(settings: ClusterSettings, progress: Progress): Promise<PlatformServer> {
  await installMissing(progress, [{ name: debianPackage, program: psql, why: 'the database of the production form' }])
  const programs = findPostgres()
  if (programs === undefined) throw new Error(`psql is there and its server is not: apt-get install -y ${debianPackage}`)
  const place: Place = {
    processName,
    folder: databaseFolder(settings),
    port: settings.postgresPort,
    hosts: [databaseHost, `${databaseHost}.${settings.clusterDomain}`],
    access: accessRules(settings),
  }
  return ensureServer({ settings, programs, place }, progress)
}

type Server = { readonly settings: ClusterSettings; readonly programs: string; readonly place: Place }

/** Starts the server unless it runs already; resolves when it answers. */
export async function ensureServer({ settings, programs, place }: Server, progress: Progress): Promise<PlatformServer> {
  const account = await accountToRunAs()
  if (account === undefined) throw new Error('PostgreSQL of the local cluster needs root, as pods do')
  const { folder } = place
  await makeFolders(folder, account)
  await requireReach(folder, account)
  if (!(await isAccessible(join(folder, 'data', 'PG_VERSION')))) await initialise(programs, folder, account)
  const files = await writeConfiguration(settings, place, account)
  const folders = devProcessFolders(settings)
  const outcome = await ensureRunning(
    {
      name: place.processName,
      path: join(programs, 'postgres'),
      args: ['-D', join(folder, 'data'), '-c', `config_file=${files.configuration}`],
      configurationFiles: Object.values(files),
      // PostgreSQL's fast shutdown: sessions are ended. On SIGTERM it would wait until they end by themselves.
      stopSignal: 'SIGINT',
      account,
    },
    folders,
  )
  const query: PlatformServer['query'] = (database, sql) =>
    runCommand(psql, [...connection(place), '-d', database, '-v', 'ON_ERROR_STOP=1', '-qtAX', '-f', '-'], {
      input: sql,
      account,
      folder: '/',
    })
  await waitUntil('an answer of PostgreSQL', () => query('postgres', 'SELECT 1').then(() => true), {
    timeoutMilliseconds: readyMilliseconds,
    hopeless: () => hasEnded(place.processName, folders),
  })
  progress.note(`PostgreSQL ${outcome}: ${settings.nodeAddress}:${place.port}, data in ${folder}`)
  return { query }
}

export function stopPlatformServer(settings: ClusterSettings): Promise<boolean> {
  return stopProcess(processName, devProcessFolders(settings))
}

function connection({ folder, port }: Place): readonly string[] {
  return ['-h', join(folder, 'run'), '-p', String(port), '-U', 'postgres']
}

async function makeFolders(folder: string, { uid, gid }: Account): Promise<void> {
  for (const name of ['', 'data', 'run', 'config']) {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    await chown(join(folder, name), uid, gid)
  }
}

async function requireReach(folder: string, account: Account): Promise<void> {
  const { code } = await tryCommand('/usr/bin/test', ['-r', folder], { account, folder: '/' })
  if (code !== 0)
    throw new Error(
      `PostgreSQL runs as the account postgres, which may not enter ${folder}: set SEKISHO_STATE to a folder that every account may enter, such as /var/lib/sekisho-dev`,
    )
}

async function initialise(programs: string, folder: string, account: Account): Promise<void> {
  const args = ['-D', join(folder, 'data'), '-U', 'postgres', '--encoding=UTF8', '--no-locale', '--data-checksums']
  // Nobody but the server's own account gets in without the configuration below, which names who does.
  await runCommand(join(programs, 'initdb'), [...args, '--auth=reject', '--auth-local=peer'], { account, folder: '/' })
}

/** Access of pods by TLS and password, of the superuser over the socket by the account of the process. */
async function writeConfiguration(settings: ClusterSettings, place: Place, { uid, gid }: Account) {
  const { folder, port, hosts, access } = place
  const authority = await openAuthority(join(devClusterFolder(settings), 'pki'), 'ca', 'sekisho-dev-ca')
  const leaf = await authority.leaf(place.processName, {
    commonName: `sekisho-${place.processName}`,
    usage: 'server',
    names: hosts,
    addresses: [settings.nodeAddress],
  })
  const at = (name: string): string => join(folder, 'config', name)
  const files = {
    configuration: at('postgresql.conf'),
    access: at('pg_hba.conf'),
    certificate: at('server.crt'),
    key: at('server.key'),
  }
  await copyFile(leaf.certificate, files.certificate)
  await copyFile(leaf.key, files.key)
  await writeFile(files.access, access)
  await writeFile(files.configuration, serverConfiguration({ ...settings, postgresPort: port }, folder, files))
  for (const file of Object.values(files)) {
    await chmod(file, 0o600)
    await chown(file, uid, gid)
  }
  return files
}

export function accessRules(settings: Pick<ClusterSettings, 'nodeAddress' | 'podCidr'>): string {
  const rows = [`${settings.nodeAddress}/32`, settings.podCidr].map(range => `hostssl sekisho all ${range} scram-sha-256`)
  return ['local all postgres peer', ...rows, ''].join('\n')
}

type ServerFiles = { readonly access: string; readonly certificate: string; readonly key: string }

/** The defaults of PostgreSQL are durable (fsync, synchronous_commit and full_page_writes are on). */
export function serverConfiguration(
  settings: Pick<ClusterSettings, 'nodeAddress' | 'postgresPort'>,
  folder: string,
  files: ServerFiles,
): string {
  const values = {
    listen_addresses: settings.nodeAddress,
    port: String(settings.postgresPort),
    unix_socket_directories: join(folder, 'run'),
    hba_file: files.access,
    ssl: 'on',
    ssl_cert_file: files.certificate,
    ssl_key_file: files.key,
    ssl_min_protocol_version: 'TLSv1.3',
    password_encryption: 'scram-sha-256',
    max_connections: '150',
    shared_buffers: '64MB',
    log_connections: 'off',
  }
  return Object.entries(values)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join('')
}

/** The certificate authority that clients need for `sslmode=verify-full`. */
export function databaseAuthority(settings: ClusterSettings): Promise<string> {
  return readFile(join(devClusterFolder(settings), 'pki/ca.crt'), 'utf8')
}
