// The door in front of GitHub: what changes GitHub counts as a write (tokens made and ended above all); fetching by git does not.
import type { CrashSwitch } from './crash-switch.ts'
import { type Door, openHttpDoor } from './http-door.ts'

function writeName(method: string, { pathname }: URL): string | undefined {
  if (method === 'GET' || method === 'HEAD' || pathname.endsWith('/git-upload-pack')) return undefined
  return `github: ${method} ${pathname.replace(/^\/api\/v3/, '').replaceAll(/\/\d+/g, '/#')}`
}

export function openGitHubDoor(crash: CrashSwitch, url: string): Promise<Door> {
  return openHttpDoor(crash, { upstream: { url: new URL(url) }, writeOf: writeName })
}
