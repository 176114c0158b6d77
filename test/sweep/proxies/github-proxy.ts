// The proxy in front of GitHub: every request that changes something is a write (minting and revoking tokens above all); git fetches are not.
import type { CrashSwitch } from './crash-switch.ts'
import { type CrashProxy, openHttpProxy } from './http-proxy.ts'

function writeName(method: string, { pathname }: URL): string | undefined {
  if (method === 'GET' || method === 'HEAD' || pathname.endsWith('/git-upload-pack')) return undefined
  // Commits differ between environments, as ids do: a write that has another name in each is never reached.
  return `github: ${method} ${pathname.replace(/^\/api\/v3/, '').replaceAll(/\/([0-9a-f]{40}|\d+)(?=\/|$)/g, '/#')}`
}

export function openGitHubProxy(crash: CrashSwitch, url: string): Promise<CrashProxy> {
  return openHttpProxy(crash, { upstream: { url: new URL(url) }, writeOf: writeName })
}
