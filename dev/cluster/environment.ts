// The shell lines that point a terminal at the local cluster: kubectl on PATH, and its kubeconfig.
// It prints paths only, never a key or a token.
import { catalog } from './binaries/catalog.ts'
import { findBinary } from './binaries/ensure-binary.ts'
import type { ClusterSettings } from './settings.ts'
import { adminKubeconfig, tenantRegistry } from './settings.ts'

/** One word of a POSIX shell, whatever is in it. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export async function environmentLines(settings: ClusterSettings): Promise<string> {
  const kubernetes = await findBinary(catalog.kubernetes, settings)
  const lines = [
    `export KUBECONFIG=${shellWord(adminKubeconfig(settings))}`,
    `export SEKISHO_REGISTRY=${shellWord(tenantRegistry(settings))}`,
    ...(kubernetes === undefined ? [] : [`export PATH=${shellWord(kubernetes.folder)}:"$PATH"`]),
  ]
  return `${lines.join('\n')}\n`
}
