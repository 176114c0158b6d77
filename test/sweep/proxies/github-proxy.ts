// The proxy in front of GitHub: what changes GitHub counts as a write (tokens made and ended above all); fetching by git does not.
import type { CrashSwitch } from './crash-switch.ts'
import { openHttpProxy, type Proxy } from './http-proxy.ts'

function writeName(method: string, { pathname }: URL): string | undefined {
  if (method === 'GET' || method === 'HEAD' || pathname.endsWith('/git-upload-pack')) return undefined
  return `github: ${method} ${pathname.replace(/^\/api\/v3/, '').replaceAll(/\/\d+/g, '/#')}`
}

export function openGitHubProxy(crash: CrashSwitch, url: string): Promise<Proxy> {
  return openHttpProxy(crash, { upstream: { url: new URL(url) }, writeOf: writeName })
}
