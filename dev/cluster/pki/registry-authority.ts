// The authority by which the local registry believes tokens: its certificate is in the registry's configuration, and its key
// signs keys of the platform (from a Secret) and the tokens of the image builder. It is another one than that of the cluster.
import { join } from 'node:path'
import { type Authority, openAuthority } from './authority.ts'

/** Made when it does not exist; never replaced. */
export function openRegistryAuthority(pkiFolder: string): Promise<Authority> {
  return openAuthority(pkiFolder, 'registry-authority', 'sekisho-dev-registry')
}

/** The files of the authority, whether or not they exist. */
export function registryAuthorityFiles(pkiFolder: string): { readonly certificate: string; readonly key: string } {
  return { certificate: join(pkiFolder, 'registry-authority.crt'), key: join(pkiFolder, 'registry-authority.key') }
}
