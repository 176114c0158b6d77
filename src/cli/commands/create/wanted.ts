// What is known about an application before it is made.
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'

/** `spec.build` of a RemoteSync; what is left out has the default of the API server. */
export type WantedBuild = Partial<RemoteSync['spec']['build']>

export type Wanted = {
  readonly name: string
  readonly namespace: string | undefined
  /** `owner/name`. */
  readonly repository: string
  readonly installation: string
  readonly branch: string | undefined
  readonly subPath: string | undefined
  readonly build: WantedBuild
  /** `spec` of the Application. */
  readonly application: Readonly<Record<string, unknown>>
}

/** RFC 1035, as Applications and processes are named. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}
