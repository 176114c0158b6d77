// The serving certificate of both sides of a bench, as files in its folder, for `localhost`.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueCertificate, makeCertificateAuthority } from '../../../src/identity/certificate-authority.ts'

/** Resolves to the authority in PEM, and to the two paths as arguments of a server. */
export async function certificateFiles(folder: string) {
  const now = new Date()
  const authority = await makeCertificateAuthority({ commonName: 'bench', now, lifetimeDays: 1 })
  const options = { authority, commonName: 'localhost', dnsNames: ['localhost'], usage: 'server', now, lifetimeDays: 1 } as const
  const leaf = await issueCertificate(options)
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(certificate, leaf.certificatePem)
  await writeFile(key, leaf.privateKeyPem.reveal(), { mode: 0o600 })
  return { authority: authority.certificatePem, args: [certificate, key] as const }
}
