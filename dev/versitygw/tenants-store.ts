// The store of buckets that tenants of the local cluster share: versitygw on this host, with a folder, two ports and a certificate
// of its own. It reads what tenants send, so it runs as an account that owns nothing else on this machine.
import { chmod, chown, copyFile, mkdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { catalog } from '../cluster/binaries/catalog.ts'
import { ensureBinary } from '../cluster/binaries/ensure-binary.ts'
import { isAccessible } from '../cluster/file-access.ts'
import { devProcessFolders } from '../cluster/node/layout.ts'
import { type Authority, openAuthority } from '../cluster/pki/authority.ts'
import { ensureRunning, hasEnded } from '../cluster/processes/supervise.ts'
import type { Progress } from '../cluster/progress.ts'
import { type Account, tryCommand } from '../cluster/run-command.ts'
import { type ClusterSettings, devClusterFolder } from '../cluster/settings.ts'
import { answers } from './answers.ts'
import { type StorePlace, storeFolders, storeProcesses } from './processes.ts'

const processName = 'tenants-store'
/** No account of a machine has this number. */
const account: Account = { uid: 65_531, gid: 65_531 }
const readyMilliseconds = 30_000

/** Objects, users, socket, certificate and the program itself. */
export function tenantsStoreFolder(settings: ClusterSettings): string {
  return join(settings.stateFolder, processName)
}

/** The URLs of S3 and of IAM. */
export function tenantsStoreUrls({ nodeAddress, tenantsStorePort, tenantsStoreIamPort }: ClusterSettings) {
  return { s3: `https://${nodeAddress}:${tenantsStorePort}`, iam: `https://${nodeAddress}:${tenantsStoreIamPort}` }
}

/** Starts both processes unless they run with this key; resolves when both answer. Needs root. */
export async function ensureTenantsStore(settings: ClusterSettings, progress: Progress, key: StorePlace['key']): Promise<void> {
  const folder = tenantsStoreFolder(settings)
  await makeFolders(folder)
  const program = await placeProgram(settings, progress, folder)
  const authority = await openAuthority(join(devClusterFolder(settings), 'pki'), 'ca', 'sekisho-dev-ca')
  const tls = await placeCertificate(settings, authority, folder)
  const ports = { s3: settings.tenantsStorePort, iam: settings.tenantsStoreIamPort }
  const processes = storeProcesses({ folder, host: settings.nodeAddress, ports, key, tls, keepsVersions: true })
  const folders = devProcessFolders(settings)
  for (const part of ['iam', 's3'] as const) {
    const name = `${processName}-${part}`
    const { args, environment } = processes[part]
    await ensureRunning({ name, path: program, args, environment, configurationFiles: Object.values(tls), account }, folders)
    await waitUntil(`an answer of ${name}`, () => answers(new URL(tenantsStoreUrls(settings)[part]), authority.pem), {
      timeoutMilliseconds: readyMilliseconds,
      hopeless: () => hasEnded(name, folders),
    })
  }
  progress.note(`store of buckets: ${tenantsStoreUrls(settings).s3}, objects in ${folder}`)
}

async function makeFolders(folder: string): Promise<void> {
  for (const name of ['', ...storeFolders, 'config']) {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
    await chown(join(folder, name), account.uid, account.gid)
  }
  const { code } = await tryCommand('/usr/bin/test', ['-r', folder], { account, folder: '/' })
  if (code !== 0)
    throw new Error(
      `the store of buckets runs as an account of its own, which may not enter ${folder}: set SEKISHO_STATE to a folder that every account may enter, such as /var/lib/sekisho-dev`,
    )
}

/** A copy, because the account may not enter the cache. Another version has another name. */
async function placeProgram(settings: ClusterSettings, progress: Progress, folder: string): Promise<string> {
  const built = await ensureBinary(catalog.versitygw, { settings, progress })
  const program = join(folder, `versitygw-${basename(built.folder)}`)
  if (await isAccessible(program)) return program
  await copyFile(built.path('versitygw'), `${program}.new`)
  await chmod(`${program}.new`, 0o755)
  await rename(`${program}.new`, program)
  return program
}

async function placeCertificate(settings: ClusterSettings, authority: Authority, folder: string) {
  const leaf = await authority.leaf(processName, {
    commonName: `sekisho-${processName}`,
    usage: 'server',
    addresses: [settings.nodeAddress],
  })
  const files = { certificate: join(folder, 'config', 'server.crt'), key: join(folder, 'config', 'server.key') }
  for (const part of ['certificate', 'key'] as const) {
    await copyFile(leaf[part], files[part])
    await chmod(files[part], 0o600)
    await chown(files[part], account.uid, account.gid)
  }
  return files
}
