// Makes P-256 keys and certificates with the openssl program. Key files are readable by their owner only; a key is never an
// argument. For the local cluster, and for what `make up` signs on a cluster of the user's.
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runCommand } from '../run-command.ts'

export type KeyPairFiles = { readonly certificate: string; readonly key: string }

export type LeafRequest = {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly usage: 'server' | 'client' | 'both'
  readonly names?: readonly string[]
  readonly addresses?: readonly string[]
  /** How long it is valid; default a year. */
  readonly days?: number
}

const authorityDays = 3650
const leafDays = 365
const usages = { server: 'serverAuth', client: 'clientAuth', both: 'serverAuth,clientAuth' } as const

async function writeKey(path: string): Promise<void> {
  const pem = await runCommand('openssl', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'])
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, pem, { mode: 0o600 })
  await chmod(`${path}.new`, 0o600)
  await rename(`${path}.new`, path)
}

/** The extension section of a leaf certificate, in openssl's configuration format. */
export function leafExtensions(request: LeafRequest): string {
  const alternatives = [
    ...(request.names ?? []).map(name => `DNS:${name}`),
    ...(request.addresses ?? []).map(address => `IP:${address}`),
  ]
  return [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature',
    `extendedKeyUsage=${usages[request.usage]}`,
    ...(alternatives.length > 0 ? [`subjectAltName=${alternatives.join(',')}`] : []),
    '',
  ].join('\n')
}

/**
 * The subject in openssl's form; Kubernetes reads each O field as a group (Kubernetes "Authenticating", "X509 client
 * certificates").
 */
export function subjectOf(request: Pick<LeafRequest, 'commonName' | 'organizations'>): string {
  const quoted = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('/', '\\/')
  return [
    ...(request.organizations ?? []).map(organization => `/O=${quoted(organization)}`),
    `/CN=${quoted(request.commonName)}`,
  ].join('')
}

export async function createAuthority(files: KeyPairFiles, commonName: string): Promise<void> {
  await writeKey(files.key)
  const args = [
    'req',
    '-x509',
    '-new',
    '-key',
    files.key,
    '-subj',
    subjectOf({ commonName }),
    '-days',
    String(authorityDays),
    '-sha256',
  ]
  const extensions = [
    '-addext',
    'basicConstraints=critical,CA:TRUE',
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign,digitalSignature',
  ]
  await writeFile(files.certificate, await runCommand('openssl', [...args, ...extensions]))
}

export async function createLeaf(authority: KeyPairFiles, files: KeyPairFiles, request: LeafRequest): Promise<void> {
  await writeKey(files.key)
  const signing = await runCommand('openssl', ['req', '-new', '-key', files.key, '-subj', subjectOf(request), '-sha256'])
  const extensions = `${files.certificate}.ext`
  await writeFile(extensions, leafExtensions(request))
  const by = [
    '-CA',
    authority.certificate,
    '-CAkey',
    authority.key,
    '-days',
    String(request.days ?? leafDays),
    '-sha256',
    '-extfile',
    extensions,
  ]
  const certificate = await runCommand('openssl', ['x509', '-req', ...by], { input: signing })
  await rm(extensions)
  await writeFile(`${files.certificate}.new`, certificate)
  await rename(`${files.certificate}.new`, files.certificate)
}

/** Makes a private key without a certificate, for signing ServiceAccount tokens. */
export async function createKey(path: string): Promise<void> {
  await writeKey(path)
}
