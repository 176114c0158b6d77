// The proxy in front of the registry: the deletion of a manifest is a write. Pushes are those of builds, which are not the process under test.
import type { CrashSwitch } from './crash-switch.ts'
import { type CrashProxy, openHttpProxy } from './http-proxy.ts'

export function openRegistryProxy(crash: CrashSwitch, host: string): Promise<CrashProxy> {
  const writeOf = (method: string): string | undefined => (method === 'DELETE' ? 'registry: DELETE manifest' : undefined)
  return openHttpProxy(crash, { upstream: { url: new URL(`http://${host}`) }, writeOf })
}
