// What a release consists of: the part of an Application's spec that it records, its hash, and the Application as a release
// says it. Pure.
import { hash } from 'node:crypto'
import type { Application } from '../../../api/apps/application.ts'
import { notInRelease, type ReleaseHeader, type ReleaseSnapshot } from '../../../api/apps/release.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Job, Pod } from '../../../api/builtin/index.ts'
import { canonicalJson, type JsonValue } from '../../../lib/json/canonical-json.ts'
import { defined } from '../../../lib/json/defined.ts'

/** The AppSecrets that are used, and their versions. */
export type SecretVersions = Readonly<Record<string, string>>

/** What is known of an Application's releases. */
export type ReleaseFacts = {
  /** Those of this Application by uid, newest first. */
  readonly headers: readonly ReleaseHeader[]
  readonly jobs: readonly Job[]
  /** Pods of release jobs, by the name of their Job. */
  readonly podsOfJobs: ReadonlyMap<string, Pod>
  /** The RemoteSyncs that name the Application. */
  readonly syncs: readonly RemoteSync[]
  /** The AppSecrets that it uses. */
  readonly secretVersions: SecretVersions
}

type Process = NonNullable<ReleaseSnapshot['processes']>[number]

/** How many pods a process has is not part of a release: scaling makes no release, and going back to one scales nothing. */
const scaleFields = ['replicas', 'autoscaling'] as const

function omit<T extends object>(value: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as T
}

/** What a release of this Application records. */
export function snapshotOf({ spec }: Application): ReleaseSnapshot {
  return omit(spec, notInRelease)
}

/** Equal exactly when the same would run. The versions of secrets count, their values are not known here. */
export function contentHash(application: Application, secretVersions: SecretVersions): string {
  const { processes, ...rest } = snapshotOf(application)
  const content = { ...rest, processes: processes?.map(process => omit(process, scaleFields)), secretVersions }
  // What was read from the API server is JSON; the round trip drops members that are undefined.
  const text = canonicalJson(JSON.parse(JSON.stringify(content)) as JsonValue)
  return hash('sha256', text).slice(0, 32)
}

/**
 * The process with as many pods as the present spec wants; a process that the present spec does not have keeps its own number.
 */
function scaledLike(process: Process, present: Application): Process {
  const now = present.spec.processes?.find(({ name }) => name === process.name)
  if (now === undefined) return process
  const scale = Object.fromEntries(Object.entries(now).filter(([name]) => scaleFields.some(field => field === name)))
  return { ...omit(process, scaleFields), ...scale }
}

/** A volume stays, with its content, also where the release has none of its processes: only its mounts go. */
function volumesFor(present: Application, { processes }: ReleaseSnapshot): Pick<Application['spec'], 'volumes'> {
  const { volumes } = present.spec
  if (volumes === undefined || processes === undefined) return volumes === undefined ? {} : { volumes }
  const known = (name: string): boolean => processes.some(process => process.name === name)
  return { volumes: volumes.map(volume => ({ ...volume, processes: (volume.processes ?? ['web']).filter(known) })) }
}

/** The Application as it would be if the release were its spec: what is not part of a release stays the present one. */
export function applicationOf(present: Application, snapshot: ReleaseSnapshot): Application {
  const kept = Object.fromEntries(Object.entries(present.spec).filter(([name]) => notInRelease.some(field => field === name)))
  const processes = snapshot.processes?.map(process => scaledLike(process, present))
  const spec = { ...kept, ...snapshot, ...defined({ processes }), ...volumesFor(present, snapshot) }
  return { ...present, spec }
}
