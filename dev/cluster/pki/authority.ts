// A folder of certificates of one authority. It makes what is missing and renews a certificate that ends soon, has other names or
// is not signed by the authority. It must never replace an existing authority.
import { createPublicKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAccessible } from '../file-access.ts'
import type { KeyPairFiles, LeafRequest } from './openssl.ts'
import { createAuthority, createKey, createLeaf } from './openssl.ts'

const renewBeforeMilliseconds = 30 * 24 * 3_600_000

export type Authority = {
  readonly files: KeyPairFiles
  /** The authority's certificate, PEM. */
  readonly pem: string
  readonly leaf: (name: string, request: LeafRequest) => Promise<KeyPairFiles>
}

/** Whether a certificate is still good: signed by the authority, same subject and names, valid for another month. */
export function stillServes(leafPem: string, authorityPem: string, request: LeafRequest, now: Date): boolean {
  const leaf = new X509Certificate(leafPem)
  const authority = new X509Certificate(authorityPem)
  const wanted = [
    ...(request.names ?? []).map(name => `DNS:${name}`),
    ...(request.addresses ?? []).map(address => `IP Address:${address}`),
  ]
  const subject = [...(request.organizations ?? []).map(organization => `O=${organization}`), `CN=${request.commonName}`]
  return (
    leaf.checkIssued(authority) &&
    leaf.verify(authority.publicKey) &&
    leaf.subject === subject.join('\n') &&
    (leaf.subjectAltName ?? '') === wanted.join(', ') &&
    new Date(leaf.validTo).getTime() - now.getTime() > renewBeforeMilliseconds
  )
}

/** Opens the authority `name` in `folder`; makes it when it does not exist. */
export async function openAuthority(folder: string, name: string, commonName: string): Promise<Authority> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) }
  if (!(await isAccessible(files.certificate))) await createAuthority(files, commonName)
  const pem = await readFile(files.certificate, 'utf8')
  return {
    files,
    pem,
    leaf: async (leafName, request) => {
      const leaf = { certificate: join(folder, `${leafName}.crt`), key: join(folder, `${leafName}.key`) }
      const present = (await isAccessible(leaf.certificate)) && (await isAccessible(leaf.key))
      if (!present || !stillServes(await readFile(leaf.certificate, 'utf8'), pem, request, new Date()))
        await createLeaf(files, leaf, request)
      return leaf
    },
  }
}

/** Makes the signing key of ServiceAccount tokens unless it exists, with its public half beside it. */
export async function ensureSigningKey(folder: string): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const files = { privateKey: join(folder, 'service-account.key'), publicKey: join(folder, 'service-account.pub') }
  if (!(await isAccessible(files.privateKey))) await createKey(files.privateKey)
  const publicHalf = createPublicKey(await readFile(files.privateKey)).export({ type: 'spki', format: 'pem' })
  await writeFile(files.publicKey, publicHalf)
  return files
}
