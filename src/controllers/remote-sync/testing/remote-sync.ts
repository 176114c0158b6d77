// A RemoteSync and the facts about it, for the unit tests of this folder: everything is in order unless a test changes it.
import type { Application } from '../../../api/apps/application.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import type { Installation } from '../../../api/github/installation.ts'
import type { Condition } from '../../../api/resource.ts'
import type { Facts } from '../gather.ts'

export const now = new Date('2026-01-01T12:00:00.500Z')
export const commit = 'a'.repeat(40)

export function sync(spec: Partial<RemoteSync['spec']> = {}, changes: Partial<Omit<RemoteSync, 'spec'>> = {}): RemoteSync {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'RemoteSync',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      source: { branch: 'main' },
      build: { strategy: 'Buildpacks', timeoutSeconds: 600 },
      application: 'shop',
      requestedBy: 'github|github.com|1',
      ...spec,
    },
    ...changes,
  }
}

export function named(name: string, uid = `uid-${name}`): RemoteSync {
  return sync({}, { metadata: { ...sync().metadata, name, uid } })
}

export function condition(type: string, status: 'True' | 'False', reason = 'Test', message = 'a message'): Condition {
  return { type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 }
}

export const installation: Installation = {
  apiVersion: 'github.sekisho.dev/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'github' },
  spec: {
    app: 'a',
    installationId: 1,
    account: { host: 'github.com', id: 1, login: 'acme', type: 'Organization' },
    boundBy: { id: 1, login: 'a' },
    proof: { method: 'OrganizationOwner', provedAt: '2026-01-01T00:00:00Z' },
    ceiling: { repositories: 'All', permissions: {} },
  },
  status: { conditions: [condition('Ready', 'True')] },
}

export function application(spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-a', generation: 1 },
    spec: { chart: 'web', processes: [], ...spec },
    status,
  }
}

export function facts(changes: Partial<Facts> = {}): Facts {
  const remoteSync = changes.remoteSync ?? sync()
  const { namespace = '', name, uid = '' } = remoteSync.metadata
  return {
    remoteSync,
    owner: { kind: 'RemoteSync', namespace, name, uid },
    now,
    tenant: { buildNamespace: 'acme-build', concurrentBuilds: 2 },
    installation,
    grant: undefined,
    application: application(),
    others: [],
    rivals: [],
    builder: remoteSync.spec.build.builder,
    missingSecrets: [],
    offer: { builders: ['paketo'], most: { cpu: '4', memory: '8Gi', ephemeralStorage: '40Gi' } },
    lastCheckedAt: undefined,
    ...changes,
  }
}
