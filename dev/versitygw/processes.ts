// The two processes of versitygw: S3 on a folder of files, and IAM, which S3 asks by a socket. Pure. The key of the administrator
// is in their environment and never in an argument, which every account of the machine can read.
import { join } from 'node:path'

export type StorePlace = {
  readonly folder: string
  /** An address of this machine. */
  readonly host: string
  readonly ports: { readonly s3: number; readonly iam: number }
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Paths of PEM files; without them nothing is encrypted. */
  readonly tls?: { readonly certificate: string; readonly key: string }
  /** Without it the store keeps no former versions of objects. */
  readonly keepsVersions: boolean
}

type Process = { readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }

/** Below the folder of the store: what has to be there before it starts. */
export const storeFolders = ['iam', 'objects', 'run', 'versions'] as const
export const storeRegion = 'us-east-1'

/** They start in any order. https://github.com/versity/versitygw/wiki */
export function storeProcesses(place: StorePlace): { readonly iam: Process; readonly s3: Process } {
  const { folder, host, ports, key, tls, keepsVersions } = place
  const environment = { ROOT_ACCESS_KEY_ID: key.accessKeyId, ROOT_SECRET_ACCESS_KEY: key.secretAccessKey }
  const encrypted = tls === undefined ? [] : ['--cert', tls.certificate, '--key', tls.key]
  // Flags stand before the word that says what it is to be.
  const common = (port: number): readonly string[] => [
    '--port',
    `${host}:${port}`,
    '--region',
    storeRegion,
    '--quiet',
    '--keep-alive',
    ...encrypted,
  ]
  const socket = join(folder, 'run', 'iam.sock')
  const versions = keepsVersions ? ['--versioning-dir', join(folder, 'versions')] : []
  return {
    iam: {
      args: [...common(ports.iam), 'iam', '--dir', join(folder, 'iam'), '--private-ports', socket],
      environment,
    },
    s3: {
      args: [...common(ports.s3), '--iam-standalone-endpoint', socket, 'posix', ...versions, join(folder, 'objects')],
      environment,
    },
  }
}
