// The objects that the tests apply, with only the fields that a developer would write.
import { tenantNamespace } from '../../dev/demo/context.ts'

const apps = 'apps.sekisho.dev/v1alpha1'

export function applicationManifest(name: string, spec: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: apps,
    kind: 'Application',
    metadata: { name, namespace: tenantNamespace },
    spec: { processes: [{ name: 'web', port: 3000, healthPath: '/healthz', memory: '128Mi' }], ...spec },
  }
}

export function remoteSyncManifest(name: string, spec: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: apps,
    kind: 'RemoteSync',
    metadata: { name, namespace: tenantNamespace },
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      source: { branch: 'main' },
      build: { timeoutSeconds: 300 },
      application: name,
      ...spec,
    },
  }
}
