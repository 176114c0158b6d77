// The authorities and certificates that `make up` makes for a platform on a cluster of the user's, in the state folder. Keep
// that folder: with other authorities the registry and GitHub's emulator would not believe the platform any more.
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { type Authority, openAuthority } from '../../cluster/pki/authority.ts'
import type { KeyPairFiles } from '../../cluster/pki/openssl.ts'
import { openRegistryAuthority } from '../../cluster/pki/registry-authority.ts'
import { type ClusterSettings, devClusterFolder, givenState } from '../../cluster/settings.ts'
import type { KeyPair } from '../secrets/platform-secrets.ts'
import type { BrokerPlan } from './decision/plan.ts'

export type GivenAuthorities = {
  readonly own: Authority
  readonly registry: KeyPairFiles
  /** SHA-256 of the first one's certificate: marks what this state folder installed. */
  readonly fingerprint: string
}

/** Made when they do not exist. */
export async function openGivenAuthorities(settings: ClusterSettings): Promise<GivenAuthorities> {
  const folder = join(devClusterFolder(givenState(settings)), 'pki')
  const own = await openAuthority(folder, 'ca', 'sekisho-authority')
  const registry = (await openRegistryAuthority(folder)).files
  return { own, registry, fingerprint: new X509Certificate(own.pem).fingerprint256.replaceAll(':', '').toLowerCase() }
}

export type GivenCertificates = { readonly [N in 'broker' | 'registryAuthority' | 'registryTokens']: KeyPair }

/**
 * The broker's and the token server's own where the user has one. That of the webhook has an authority of its own:
 * secrets/admission-certificate.ts.
 */
export async function issueCertificates(
  { own, registry }: GivenAuthorities,
  broker: BrokerPlan,
  realm: URL | null,
): Promise<GivenCertificates> {
  /** For the Service of this name, and for the host of the URL by which it is reached from outside. */
  const leaf = async (name: string, url: URL | null): Promise<KeyPair> => {
    const service = `sekisho-${name}.sekisho-system.svc`
    const host = url?.hostname.replace(/^\[|\]$/g, '') ?? service
    const names = [...new Set(isIP(host) === 0 ? [host, service] : [service])]
    const addresses = isIP(host) === 0 ? [] : [host]
    return read(await own.leaf(name, { commonName: `sekisho-${name}`, usage: 'server', names, addresses }))
  }
  return {
    broker: broker.certificate ?? (await leaf('broker', broker.url)),
    registryAuthority: await read(registry),
    registryTokens: broker.certificate ?? (await leaf('registry-tokens', realm)),
  }
}

async function read({ certificate, key }: KeyPairFiles): Promise<KeyPair> {
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
}
