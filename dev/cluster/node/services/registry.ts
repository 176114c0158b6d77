// The two image registries: Debian's docker-registry, plain http, storage in the cluster's folder. The one on the node address
// asks for tokens of the platform (its address must be a private IP address: builders use plain http only with those). The one
// on loopback, which pods cannot reach, holds the images of the platform and of kpack, which must start before anybody can
// issue tokens.
import { join } from 'node:path'
import { stringify } from 'yaml'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { openRegistryAuthority } from '../../pki/registry-authority.ts'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import { replaceFile } from '../../replace-file.ts'
import { nodeRegistryHost, registryHost } from '../../settings.ts'
import type { NodeContext } from '../layout.ts'

const readyMilliseconds = 20_000

/** The names by which the registry and the platform know each other: the defaults of the platform's settings. */
export const registryTokens = { service: 'sekisho-registry', issuer: 'sekisho' } as const

export type TokenAuthentication = { readonly realm: string; readonly authorityFile: string }

/** Distribution 2.8 configuration; deletion is on, so that old builds can be collected. */
export function registryConfiguration(address: string, storage: string, tokens?: TokenAuthentication): string {
  return stringify({
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: storage }, delete: { enabled: true }, cache: { blobdescriptor: 'inmemory' } },
    http: { addr: address, headers: { 'X-Content-Type-Options': ['nosniff'] } },
    ...(tokens === undefined
      ? {}
      : { auth: { token: { realm: tokens.realm, ...registryTokens, rootcertbundle: tokens.authorityFile } } }),
  })
}

type RegistryProgram = {
  readonly name: string
  readonly address: string
  readonly tokens?: TokenAuthentication
}

/** Both registries. `pkiFolder` holds the authority whose tokens the first one believes. */
export async function startRegistries(context: NodeContext, pkiFolder: string): Promise<void> {
  const { settings } = context
  const authority = await openRegistryAuthority(pkiFolder)
  const realm = `https://${settings.registryTokenAddress}/token`
  const tokens = { realm, authorityFile: authority.files.certificate }
  await startRegistry(context, { name: 'registry', address: registryHost(settings), tokens })
  await startRegistry(context, { name: 'node-registry', address: nodeRegistryHost(settings) })
}

async function startRegistry({ layout, folders }: NodeContext, program: RegistryProgram): Promise<void> {
  const { name, address, tokens } = program
  const configuration = join(layout.folder, 'config', `${name}.yaml`)
  await replaceFile(configuration, registryConfiguration(address, join(layout.folder, name), tokens))
  const configurationFiles = [configuration, ...(tokens === undefined ? [] : [tokens.authorityFile])]
  await ensureRunning({ name, path: '/usr/bin/docker-registry', args: ['serve', configuration], configurationFiles }, folders)
  const expected = tokens === undefined ? 200 : 401
  await waitUntil(name, async () => (await fetch(`http://${address}/v2/`)).status === expected, {
    timeoutMilliseconds: readyMilliseconds,
    hopeless: () => hasEnded(name, folders),
  })
}
