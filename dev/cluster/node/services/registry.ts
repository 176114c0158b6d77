// The image registry: Debian's docker-registry on the node address, plain http, storage in the cluster's folder.
// Its address must be a private IP address: builders use plain http only with those.
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ensureRunning, hasEnded } from '../../processes/supervise.ts'
import { replaceFile } from '../../replace-file.ts'
import { registryHost } from '../../settings.ts'
import { waitUntil } from '../../wait-until.ts'
import type { NodeContext } from '../layout.ts'

const readyMilliseconds = 20_000

/** Distribution 2.8 configuration; deletion is on, so that old builds can be collected. */
export function registryConfiguration(address: string, storage: string): string {
  return stringify({
    version: 0.1,
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: storage }, delete: { enabled: true }, cache: { blobdescriptor: 'inmemory' } },
    http: { addr: address, headers: { 'X-Content-Type-Options': ['nosniff'] } },
  })
}

export async function startRegistry(context: NodeContext): Promise<void> {
  const { layout, settings, folders } = context
  const configuration = join(layout.folder, 'config', 'registry.yaml')
  const address = registryHost(settings)
  await replaceFile(configuration, registryConfiguration(address, join(layout.folder, 'registry')))
  const args = ['serve', configuration]
  await ensureRunning({ name: 'registry', path: '/usr/bin/docker-registry', args, configurationFiles: [configuration] }, folders)
  await waitUntil('registry', async () => ((await fetch(`http://${address}/v2/`)).ok ? true : undefined), {
    timeoutMilliseconds: readyMilliseconds,
    hopeless: () => hasEnded('registry', folders),
  })
}
