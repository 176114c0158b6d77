// An Application and its releases, for the unit tests of releases and rollouts.

import type { Application } from '../../../../api/apps/application.ts'
import type { ReleaseHeader } from '../../../../api/apps/release.ts'

export const image = 'registry.test/shop@sha256:1'
export const now = new Date('2026-01-01T12:00:00.000Z')

export function application(spec: Partial<Application['spec']> = {}, status: Application['status'] = {}): Application {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1', generation: 1 },
    spec: {
      chart: 'web',
      image,
      processes: [{ name: 'web', port: 3000, replicas: 2, cpu: '50m', memory: '64Mi', gracePeriodSeconds: 30 }],
      env: [{ name: 'A', value: '1' }],
      ...spec,
    },
    status,
  }
}

/** With `reason`: what became of it. */
export function header(number: number, spec: Partial<ReleaseHeader['spec']> = {}, reason?: string): ReleaseHeader {
  const conditions = [
    {
      type: 'Ready',
      status: reason === 'RolledOut' ? ('True' as const) : ('False' as const),
      reason: reason ?? '',
      message: 'x',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 1,
    },
  ]
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `shop-v${number}`, namespace: 'acme', uid: `uid-v${number}`, generation: 1 },
    spec: {
      application: { name: 'shop', uid: 'uid-1' },
      number,
      image,
      hash: 'h',
      by: { kind: 'FieldManager', name: 'kubectl' },
      reason: 'First',
      ...spec,
    },
    ...(reason === undefined ? {} : { status: { conditions } }),
  }
}
