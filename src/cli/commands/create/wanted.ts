// What is known about an application before it is made.

export type Wanted = {
  readonly name: string
  readonly namespace: string | undefined
  /** `owner/name`. */
  readonly repository: string
  readonly installation: string
  readonly branch: string | undefined
  readonly subPath: string | undefined
  /** `spec.build` of the RemoteSync. */
  readonly build: Readonly<Record<string, unknown>>
  /** `spec` of the Application. */
  readonly application: Readonly<Record<string, unknown>>
}

/** RFC 1035, as Applications and processes are named. */
export function isDnsLabel(text: string): boolean {
  return /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}
