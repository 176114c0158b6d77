// An Application of a chart and the workloads that one may render.
import type { Application } from '../../../../api/apps/application.ts'
import { objectAt } from '../../../../lib/json/json-value.ts'
import { desiredManifests } from '../desired.ts'
import { podTemplatePath } from '../pod-rules.ts'

export const application = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1' },
  spec: { chart: 'web', processes: [] },
} as unknown as Application

/** Each with this pod, a Deployment with another one where a test says so. */
export function workloadsOf(pod: object) {
  const template = (spec: object) => ({ template: { metadata: { labels: { a: 'b' } }, spec } })
  const deployment = (spec: object = pod): Readonly<Record<string, unknown>> => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: template(spec),
  })
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: template(pod) }
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { jobTemplate: { spec: template(pod) } },
  }
  return { deployment, job, cronJob }
}

export function rendered(objects: readonly object[], more: object) {
  return desiredManifests(application, objects, { hosts: [], ingressClassName: 'traefik', redirects: [], ...more })
}

/** By the kind of its workload. @throws when they are refused */
export function podsIn(desired: ReturnType<typeof rendered>) {
  if (desired.kind === 'refused') throw new Error(desired.message)
  return desired.manifests.flatMap(manifest => {
    const path = podTemplatePath(manifest)
    return path === undefined ? [] : [[manifest.kind, objectAt(manifest, ...path, 'spec')] as const]
  })
}
