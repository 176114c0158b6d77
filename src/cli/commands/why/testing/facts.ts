// What `why` gathers about an application that works, and about parts of one: tests change what they are about.
import type { Application } from '../../../../api/apps/application.ts'
import type { RemoteSync } from '../../../../api/apps/remote-sync.ts'
import type { Pod } from '../../../../api/builtin/core.ts'
import type { Deployment } from '../../../../api/builtin/workloads.ts'
import type { Installation } from '../../../../api/github/installation.ts'
import type { RepositoryGrant } from '../../../../api/github/repository-grant.ts'
import { labels } from '../../../../api/names.ts'
import type { Condition } from '../../../../api/resource.ts'
import type { Facts } from '../facts.ts'

const now = new Date('2026-11-22T12:00:00Z')
const time = '2026-11-22T11:59:00Z'
const commit = 'a'.repeat(40)
const image = `registry.example/shop@sha256:${'1'.repeat(64)}`

type Conditions = Readonly<Record<string, string>>

/** `Type: 'True'`, or `Type: 'Reason: message'` for False. */
function conditions(texts: Conditions): Condition[] {
  return Object.entries(texts).map(([type, text]) => {
    const [reason = '', message = ''] = text === 'True' ? ['Done', 'done'] : text.split(': ')
    return { type, status: text === 'True' ? 'True' : 'False', reason, message, lastTransitionTime: time, observedGeneration: 1 }
  })
}

const metadata = (name: string, more: object = {}) => ({
  name,
  namespace: 'acme',
  generation: 1,
  creationTimestamp: time,
  ...more,
})
const status = (texts: Conditions, more: object = {}) => ({
  observedGeneration: 1,
  conditions: conditions(texts),
  ...more,
})

export const pipelineOwner = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppPipeline',
  name: 'shop',
  uid: 'p',
  controller: true,
}

export function sync(texts: Conditions = {}, more: { spec?: object; status?: object; metadata?: object } = {}): RemoteSync {
  const all = { Resolved: 'True', Fetched: 'True', Built: 'True', Deployed: 'True', Ready: 'True', ...texts }
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'RemoteSync',
    metadata: metadata('shop', more.metadata),
    spec: {
      installation: 'acme',
      repository: 'acme/shop',
      requestedBy: 'github|github.com|7',
      source: { branch: 'main' },
      build: { strategy: 'Buildpacks' },
      application: 'shop',
      ...more.spec,
    },
    status: status(all, {
      grant: 'remotesync-shop',
      commit,
      imageCommit: commit,
      image,
      phases: { signalledAt: time },
      ...more.status,
    }),
  } as unknown as RemoteSync
}

export function grant(texts: Conditions = {}, more: object = {}): RepositoryGrant {
  const subjects = [{ kind: 'RemoteSync', name: 'shop' }]
  return grantOf({ metadata: metadata('remotesync-shop'), subjects }, texts, more)
}

/** Of a person, for the Application `shop`. */
export function forApplication(texts: Conditions, delivery = 'TokenEndpoint'): RepositoryGrant {
  return grantOf({ metadata: metadata('reader'), subjects: [{ kind: 'Application', name: 'shop' }], delivery }, texts)
}

type Named = { readonly metadata: object; readonly subjects: readonly object[]; readonly delivery?: string }

function grantOf(
  { metadata, subjects, delivery = 'TokenEndpoint' }: Named,
  texts: Conditions,
  more: object = {},
): RepositoryGrant {
  const spec = { installation: 'acme', repositories: ['acme/shop'], requestedBy: 'github|github.com|7', subjects, delivery }
  return {
    metadata,
    spec,
    status: status({ Approved: 'True', Ready: 'True', ...texts }, more),
  } as unknown as RepositoryGrant
}

export function installation(texts: Conditions = {}): Installation {
  return {
    metadata: metadata('acme'),
    spec: { account: { login: 'acme' } },
    status: status({ Ready: 'True', ...texts }),
  } as unknown as Installation
}

export function application(
  texts: Conditions = {},
  more: { spec?: object; status?: object; metadata?: object } = {},
): Application {
  return {
    metadata: metadata('shop', more.metadata),
    spec: { image, commit, chart: 'web', processes: [{ name: 'web', port: 3000, replicas: 1 }], ...more.spec },
    status: status(
      { Rendered: 'True', Available: 'True', Ready: 'True', ...texts },
      { url: 'http://shop.example', ...more.status },
    ),
  } as unknown as Application
}

export function deployment(more: { replicas?: number; status?: object } = {}): Deployment {
  const { replicas = 1 } = more
  const counts = { updatedReplicas: replicas, readyReplicas: replicas, ...more.status }
  return {
    metadata: metadata('shop-web'),
    spec: { replicas, selector: {}, template: {} },
    status: counts,
  } as unknown as Deployment
}

export function pod(state: object = { running: {} }, ready = true, more: object = {}): Pod {
  const containerStatuses = [{ name: 'web', ready, restartCount: 0, image: 'i:1', imageID: '', state, ...more }]
  return {
    metadata: metadata('shop-web-1', { labels: { [labels.process]: 'web' } }),
    status: { phase: 'Running', containerStatuses },
  } as unknown as Pod
}

export const healthy: Facts = {
  now,
  namespace: 'acme',
  subject: { kind: 'Application', name: 'shop' },
  application: application(),
  remoteSync: sync(),
  grant: grant(),
  installation: installation(),
  secretGrants: [],
  services: [],
  deployments: [deployment()],
  pods: [pod()],
  service: { metadata: metadata('shop') } as never,
  endpointSlices: [{ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] } as never],
  ingress: { spec: { rules: [{ host: 'shop.example' }] } } as never,
  warnings: [],
  answer: { kind: 'response', status: 200, milliseconds: 12, noRoute: false },
}
